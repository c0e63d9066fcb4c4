import { corrupt } from "../error.ts";

/** Longest code of the format, in bits. */
const CODE_BITS_MAX = 15;

// A table entry is one integer, so that the decoder needs one lookup per symbol:
//   bits 0-3   length of the code in bits; an entry of 0 is a code longer than the table's index
//   bits 4-7   number of extra bits after the code
//   bits 8-9   type of the symbol
//   bits 16-31 the byte, or the base to which the extra bits are added
export const ENTRY_LITERAL = 0 << 8;
export const ENTRY_BASE = 1 << 8;
export const ENTRY_END = 2 << 8;
export const ENTRY_INVALID = 3 << 8;
export const ENTRY_KIND = 3 << 8;

/**
 * A decoding table for one Huffman code, reused for every block.
 *
 * Codes of up to `indexBits` take one lookup. The rare longer codes are decoded bit by bit from the
 * canonical order, which keeps building cheap: most git objects are small, and for them building
 * the table costs more than decoding.
 */
export class HuffmanTable {
  readonly indexBits: number;
  /** The entry for each value of the next `indexBits` bits. */
  readonly entries: Int32Array;
  /** The entry of each symbol without its code length. */
  private readonly meanings: Int32Array;
  /** Number of codes of each length, 1 to 15. */
  private readonly counts = new Int32Array(CODE_BITS_MAX + 1);
  /** Symbols in canonical order. */
  private readonly sorted: Int32Array;
  private readonly nextCode = new Int32Array(CODE_BITS_MAX + 1);
  private readonly nextSorted = new Int32Array(CODE_BITS_MAX + 1);

  constructor(indexBits: number, meanings: Int32Array) {
    this.indexBits = indexBits;
    this.entries = new Int32Array(1 << indexBits);
    this.meanings = meanings;
    this.sorted = new Int32Array(meanings.length);
  }

  /**
   * Builds the table for symbols whose code lengths are `lengths[start..end)`.
   *
   * @param mayBeIncomplete True to accept an incomplete code if it has at most one symbol, as RFC
   * 1951 allows for a single distance code.
   * @throws GitError `corrupt` if the lengths do not form a prefix code.
   */
  build(lengths: Uint8Array, start: number, end: number, mayBeIncomplete: boolean): void {
    const { counts, entries, indexBits, meanings, nextCode, nextSorted, sorted } = this;
    counts.fill(0);
    for (let at = start; at < end; at++) (counts[lengths[at] as number] as number)++;

    let left = 1;
    let code = 0;
    let total = 0;
    let longest = 0;
    counts[0] = 0;
    for (let bits = 1; bits <= CODE_BITS_MAX; bits++) {
      const count = counts[bits] as number;
      left = 2 * left - count;
      if (left < 0) throw corrupt("zlib: over-subscribed Huffman code");
      code = (code + (counts[bits - 1] as number)) << 1;
      nextCode[bits] = code;
      nextSorted[bits] = total;
      total += count;
      if (count > 0) longest = bits;
    }
    if (left > 0 && !(mayBeIncomplete && longest <= 1)) {
      throw corrupt("zlib: incomplete Huffman code");
    }
    if (left > 0 || longest > indexBits) entries.fill(0);

    for (let at = start; at < end; at++) {
      const bits = lengths[at] as number;
      if (bits === 0) continue;
      const symbol = at - start;
      sorted[(nextSorted[bits] as number)++] = symbol;
      const symbolCode = (nextCode[bits] as number)++;
      if (bits > indexBits) continue;
      const entry = (meanings[symbol] as number) | bits;
      const step = 1 << bits;
      for (let index = reverseBits(symbolCode, bits); index < entries.length; index += step) {
        entries[index] = entry;
      }
    }
  }

  /**
   * Decodes a code that is too long for the table.
   *
   * @param hold The next bits of the stream, first bit lowest.
   * @param bits Number of bits in `hold`.
   * @returns The entry, or 0 if more bits are needed.
   * @throws GitError `corrupt` if no code starts with these bits.
   */
  decodeLong(hold: number, bits: number): number {
    const { counts, sorted } = this;
    let code = 0;
    let first = 0;
    let index = 0;
    for (let length = 1; length <= CODE_BITS_MAX; length++) {
      if (length > bits) return 0;
      code |= (hold >>> (length - 1)) & 1;
      const count = counts[length] as number;
      if (code - first < count) {
        return (this.meanings[sorted[index + code - first] as number] as number) | length;
      }
      index += count;
      first = (first + count) << 1;
      code <<= 1;
    }
    throw corrupt("zlib: invalid Huffman code");
  }
}

const REVERSED_BYTES = Uint8Array.from({ length: 256 }, (_, byte) => {
  let reversed = 0;
  for (let bit = 0; bit < 8; bit++) reversed |= ((byte >>> bit) & 1) << (7 - bit);
  return reversed;
});

function reverseBits(code: number, bits: number): number {
  const reversed =
    ((REVERSED_BYTES[code & 0xff] as number) << 8) | (REVERSED_BYTES[code >>> 8] as number);
  return reversed >>> (16 - bits);
}
