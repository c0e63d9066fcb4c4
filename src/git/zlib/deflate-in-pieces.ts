import type { Budget } from "../budget.ts";
import type { Deflating } from "../codec.ts";
import { joinBytes } from "../wire/pkt-line.ts";

/** Bytes that are compressed at once: about 8 ms. */
export const DEFLATED_TOGETHER = 256 * 1024;

/** Steps to compress a byte. */
export const DEFLATED_BYTE_STEPS = 3;

/** Cuts bytes into pieces that can be compressed at once, as views, and pauses between them. */
export async function* piecesToDeflate(
  bytes: Uint8Array,
  budget: Budget,
): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += DEFLATED_TOGETHER) {
    const piece = bytes.subarray(at, at + DEFLATED_TOGETHER);
    await budget.pause(DEFLATED_BYTE_STEPS * piece.length);
    yield piece;
  }
}

/** Compresses bytes that are in memory, and pauses meanwhile. Releases the stream. */
export async function deflateInPieces(
  bytes: Uint8Array,
  deflating: Deflating,
  budget: Budget,
): Promise<Uint8Array> {
  const output: Uint8Array[] = [];
  try {
    for await (const piece of piecesToDeflate(bytes, budget)) {
      output.push(...(await deflating.push(piece)));
    }
    output.push(...(await deflating.finish()));
  } finally {
    deflating.close();
  }
  return joinBytes(output);
}
