import { ENTRY_BASE, ENTRY_END, ENTRY_INVALID, ENTRY_LITERAL } from "./huffman.ts";

/** Order in which a dynamic block lists the lengths of the code length code. */
export const CODE_LENGTH_ORDER = Uint8Array.of(
  16,
  17,
  18,
  0,
  8,
  7,
  9,
  6,
  10,
  5,
  11,
  4,
  12,
  3,
  13,
  2,
  14,
  1,
  15,
);

/** Code lengths of a block with fixed codes: 288 literals and lengths, then 32 distances. */
export const FIXED_LENGTHS = Uint8Array.from({ length: 288 + 32 }, (_, at) => {
  if (at >= 288) return 5;
  if (at < 144) return 8;
  if (at < 256) return 9;
  return at < 280 ? 7 : 8;
});

/** Meanings of the 288 literal and length symbols. */
export const LITERAL_MEANINGS = makeLiteralMeanings();

/** Meanings of the 32 distance symbols. */
export const DISTANCE_MEANINGS = makeDistanceMeanings();

/** Meanings of the 19 symbols of the code length code: themselves. */
export const CODE_LENGTH_MEANINGS = Int32Array.from({ length: 19 }, (_, symbol) => symbol << 16);

/** @see RFC 1951, section 3.2.5. */
function makeLiteralMeanings(): Int32Array {
  const meanings = new Int32Array(288);
  for (let byte = 0; byte < 256; byte++) meanings[byte] = ENTRY_LITERAL | (byte << 16);
  meanings[256] = ENTRY_END;
  let base = 3;
  for (let symbol = 257; symbol < 285; symbol++) {
    const extraBits = symbol < 265 ? 0 : (symbol - 261) >> 2;
    meanings[symbol] = ENTRY_BASE | (base << 16) | (extraBits << 4);
    base += 1 << extraBits;
  }
  meanings[285] = ENTRY_BASE | (258 << 16);
  meanings[286] = ENTRY_INVALID;
  meanings[287] = ENTRY_INVALID;
  return meanings;
}

function makeDistanceMeanings(): Int32Array {
  const meanings = new Int32Array(32);
  let base = 1;
  for (let symbol = 0; symbol < 30; symbol++) {
    const extraBits = symbol < 4 ? 0 : (symbol - 2) >> 1;
    meanings[symbol] = ENTRY_BASE | (base << 16) | (extraBits << 4);
    base += 1 << extraBits;
  }
  meanings[30] = ENTRY_INVALID;
  meanings[31] = ENTRY_INVALID;
  return meanings;
}
