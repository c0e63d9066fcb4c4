import { formatBase85 } from "../base85.ts";
import type { ByteText } from "../byte-text.ts";
import type { Codec } from "../codec.ts";
import { DeltaEncoder } from "../pack/delta-encoder.ts";

/** Bytes of one line. */
const LINE_BYTES = 52;

/**
 * How two contents differ that are no text: what makes the new one, and what makes the old one again,
 * each whole or as a delta of the other, whichever is shorter.
 *
 * @see git-diff(1), `--binary`; git's diff.c.
 */
export function formatBinaryPatch(old: Uint8Array, fresh: Uint8Array, codec: Codec): ByteText {
  const there = formatSide(old, fresh, codec);
  const back = formatSide(fresh, old, codec);
  return `GIT binary patch\n${there}\n${back}\n` as ByteText;
}

function formatSide(from: Uint8Array, to: Uint8Array, codec: Codec): string {
  const whole = codec.deflate(to);
  const delta =
    from.length > 0 && to.length > 0 ? new DeltaEncoder(from).encode(to, whole.length) : undefined;
  const deflated = delta && codec.deflate(delta);
  return delta && deflated && deflated.length < whole.length
    ? `delta ${delta.length}\n${formatLines(deflated)}`
    : `literal ${to.length}\n${formatLines(whole)}`;
}

/** Bytes in lines of base 85, each with its length before it: `A` to `Z` for 1 to 26, then `a` to `z`. */
function formatLines(bytes: Uint8Array): string {
  let text = "";
  for (let start = 0; start < bytes.length; start += LINE_BYTES) {
    const line = bytes.subarray(start, start + LINE_BYTES);
    const length = String.fromCharCode(line.length <= 26 ? 0x40 + line.length : 0x46 + line.length);
    text += `${length}${formatBase85(line)}\n`;
  }
  return text;
}
