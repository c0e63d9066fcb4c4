import type { Steps } from "../budget.ts";
import type { Codec } from "../codec.ts";
import { adler32 } from "../hash/adler32.ts";
import { joinBytes } from "../wire/pkt-line.ts";

/** Bytes that are compressed before the work yields. */
const PART_BYTES = 128 * 1024;
/** Steps to compress a byte. */
const STEPS_PER_BYTE = 3;

/**
 * Compresses bytes into one zlib stream, in parts. Matches do not reach from one part into another.
 *
 * @see RFC 1950; RFC 1951, section 3.2.3.
 */
export function* deflateInParts(bytes: Uint8Array, codec: Codec): Steps<Uint8Array> {
  yield STEPS_PER_BYTE * Math.min(bytes.length, PART_BYTES);
  if (bytes.length <= PART_BYTES) return codec.deflate(bytes);
  const pieces: Uint8Array[] = [Uint8Array.of(0x78, 0x9c)];
  let adler = 1;
  for (let at = 0; at < bytes.length; at += PART_BYTES) {
    const end = Math.min(bytes.length, at + PART_BYTES);
    pieces.push(codec.deflateBlocks(bytes.subarray(at, end)));
    adler = adler32(bytes, at, end, adler);
    yield STEPS_PER_BYTE * (end - at);
  }
  // An empty last block of fixed codes.
  pieces.push(Uint8Array.of(3, 0, adler >>> 24, adler >>> 16, adler >>> 8, adler));
  return joinBytes(pieces);
}
