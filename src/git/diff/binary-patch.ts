import { formatBase85 } from "../base85.ts";
import type { ByteText } from "../byte-text.ts";
import type { Codec } from "../codec.ts";
import { DeltaEncoder } from "../pack/delta-encoder.ts";

/** Bytes encoded on one line. */
const LINE_BYTES = 52;

/** Steps to compress a byte of a binary file in each of the ways of which the shortest is used. */
const STEPS_PER_BYTE = 10;

/** Steps that `formatBinaryPatch` takes. */
export const stepsToEncode = (old: Uint8Array, fresh: Uint8Array): number =>
  STEPS_PER_BYTE * (old.length + fresh.length);

/**
 * A binary patch: the data to produce the new content, and the data to restore the old content. Each is
 * stored in full or as a delta against the other, whichever is shorter.
 *
 * @see git-diff(1), `--binary`; git's diff.c.
 */
export function formatBinaryPatch(old: Uint8Array, fresh: Uint8Array, codec: Codec): ByteText {
  const forward = formatSide(old, fresh, codec);
  const backward = formatSide(fresh, old, codec);
  return `GIT binary patch\n${forward}\n${backward}\n` as ByteText;
}

function formatSide(from: Uint8Array, to: Uint8Array, codec: Codec): string {
  const literal = codec.deflate(to);
  const delta =
    from.length > 0 && to.length > 0
      ? new DeltaEncoder(from).encode(to, literal.length)
      : undefined;
  const deflated = delta && codec.deflate(delta);
  return delta && deflated && deflated.length < literal.length
    ? `delta ${delta.length}\n${formatLines(deflated)}`
    : `literal ${to.length}\n${formatLines(literal)}`;
}

/** Lines of base 85, each preceded by its length in bytes: `A` to `Z` for 1 to 26, then `a` to `z`. */
function formatLines(bytes: Uint8Array): string {
  let text = "";
  for (let start = 0; start < bytes.length; start += LINE_BYTES) {
    const line = bytes.subarray(start, start + LINE_BYTES);
    const length = String.fromCharCode(line.length <= 26 ? 0x40 + line.length : 0x46 + line.length);
    text += `${length}${formatBase85(line)}\n`;
  }
  return text;
}
