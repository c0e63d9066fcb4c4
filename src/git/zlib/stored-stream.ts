import { adler32 } from "../hash/adler32.ts";

/** Longest stored block, in bytes. */
const BLOCK_BYTES_MAX = 0xffff;

/**
 * Wraps pieces in a zlib stream of stored (uncompressed) blocks, for contents too large to be
 * deflated at once.
 *
 * Each piece is consumed before the next one is requested.
 *
 * @see RFC 1950; RFC 1951, section 3.2.4.
 */
export async function* storedStream(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let adler = 1;
  yield Uint8Array.of(0x78, 0x01);
  for await (const piece of pieces) {
    adler = adler32(piece, 0, piece.length, adler);
    for (let at = 0; at < piece.length; at += BLOCK_BYTES_MAX) {
      const block = piece.subarray(at, at + BLOCK_BYTES_MAX);
      yield blockHeader(0, block.length);
      yield block;
    }
  }
  yield blockHeader(1, 0);
  yield Uint8Array.of(adler >>> 24, adler >>> 16, adler >>> 8, adler);
}

const blockHeader = (isLast: 0 | 1, length: number): Uint8Array =>
  Uint8Array.of(isLast, length, length >>> 8, ~length, ~length >>> 8);
