import { formatBase85 } from "../base85.ts";
import type { ByteText } from "../byte-text.ts";
import { type Budget, finishInTurns } from "../budget.ts";
import type { Compressor } from "../codec.ts";
import { encodeInTurns } from "../pack/delta-encoder.ts";
import { deflateInPieces } from "../zlib/deflate-in-pieces.ts";

/** Bytes encoded on one line. */
const LINE_BYTES = 52;

/** Steps to encode a line. */
const LINE_STEPS = 100;

/** Steps to compress a byte of a binary file in each of the ways of which the shortest is used. */
const STEPS_PER_BYTE = 10;

/** Steps that `formatBinaryPatch` takes. */
export const stepsToEncode = (old: Uint8Array, fresh: Uint8Array): number =>
  STEPS_PER_BYTE * (old.length + fresh.length);

/**
 * A binary patch: the data to produce the new content, and the data to restore the old content.
 * Each is stored in full or as a delta against the other, whichever is shorter.
 *
 * @see git-diff(1), `--binary`; git's diff.c.
 */
export async function formatBinaryPatch(
  old: Uint8Array,
  fresh: Uint8Array,
  compressor: Compressor,
  budget: Budget,
): Promise<ByteText> {
  const forward = await formatSide(old, fresh, compressor, budget);
  const backward = await formatSide(fresh, old, compressor, budget);
  return `GIT binary patch\n${forward}\n${backward}\n` as ByteText;
}

async function formatSide(
  from: Uint8Array,
  to: Uint8Array,
  compressor: Compressor,
  budget: Budget,
): Promise<string> {
  const deflate = (bytes: Uint8Array): Promise<Uint8Array> =>
    deflateInPieces(bytes, compressor.open("zlib"), budget);
  const literal = await deflate(to);
  const delta =
    from.length > 0 && to.length > 0
      ? await finishInTurns(encodeInTurns(from, to, literal.length), budget)
      : undefined;
  const deflated = delta && (await deflate(delta));
  return delta && deflated && deflated.length < literal.length
    ? `delta ${delta.length}\n${await formatLines(deflated, budget)}`
    : `literal ${to.length}\n${await formatLines(literal, budget)}`;
}

/**
 * Lines of base 85, each preceded by its length in bytes: `A` to `Z` for 1 to 26, then `a` to `z`.
 */
async function formatLines(bytes: Uint8Array, budget: Budget): Promise<string> {
  let text = "";
  for (let start = 0; start < bytes.length; start += LINE_BYTES) {
    const pausing = budget.pause(LINE_STEPS);
    if (pausing) await pausing;
    const line = bytes.subarray(start, start + LINE_BYTES);
    const length = String.fromCharCode(line.length <= 26 ? 0x40 + line.length : 0x46 + line.length);
    text += `${length}${formatBase85(line)}\n`;
  }
  return text;
}
