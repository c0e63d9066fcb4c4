import { malformed, tooLarge } from "../../lib/failure.ts";
import { toPieceStream } from "../../lib/piece-stream.ts";
import { pause } from "../../lib/time-slice.ts";
import { UNPACKED_BYTES_FREE, UNPACKED_RATIO_MAX } from "../../lib/unpacked-size.ts";

/** Steps to make a byte of output. */
const MADE_BYTE_STEPS = 0.5;

/**
 * Decompresses gzip, as a stream.
 *
 * SECURITY: stops at output that is out of proportion to the input read so far, so a small upload
 * can't take long.
 *
 * @param pieces Small pieces, as of `readSource`: each is expanded as a whole.
 * @param bytesMax Maximum bytes of the output.
 * @throws Failure `malformed` for anything else than one complete gzip member; `too_large` beyond
 * `bytesMax`, or for a ratio that no real archive has. An error of `pieces` is thrown unchanged.
 * @see RFC 1952.
 */
export async function* gunzip(
  pieces: AsyncIterable<Uint8Array>,
  bytesMax = Number.POSITIVE_INFINITY,
): AsyncGenerator<Uint8Array> {
  let readBytes = 0;
  const counted = async function* (): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces) {
      readBytes += piece.length;
      yield piece;
    }
  };
  const { stream, fault } = toPieceStream(counted());
  const decompressor = new DecompressionStream("gzip");
  const output = stream.pipeThrough(decompressor as ReadableWritablePair<Uint8Array, Uint8Array>);
  const reader = output.getReader();
  let madeBytes = 0;
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      madeBytes += value.length;
      await pause(MADE_BYTE_STEPS * value.length);
      if (madeBytes > bytesMax)
        throw tooLarge(`the archive unpacks to more than ${bytesMax} bytes`);
      if (madeBytes > Math.max(UNPACKED_BYTES_FREE, readBytes * UNPACKED_RATIO_MAX)) {
        throw tooLarge("the archive unpacks to too much for its size");
      }
      yield value;
    }
  } catch (error) {
    const own = fault();
    if (own) throw own.error;
    if (error instanceof TypeError)
      throw malformed("the file is not compressed by gzip, or broken");
    throw error;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
