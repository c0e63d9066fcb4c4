// The memory of the kernel, which never grows. src/git/pack/kernel.ts reads and writes it by the
// same addresses, which it gets from `layout` in kernel.ts.

/** Longest slice of a pack that is scanned at once, in bytes. */
export const INPUT_BYTES: u32 = 256 * 1024;
/** Bytes that may be read behind the input, and written behind an output. */
export const SLACK_BYTES: u32 = 512;
/** Longest content that the kernel inflates or makes from a delta, in bytes. */
export const CONTENT_BYTES_MAX: u32 = 256 * 1024;
/** Room for the contents of one batch of entries. */
export const OUTPUT_BYTES: u32 = 512 * 1024;
/** Entries of one batch. */
export const RECORDS_MAX: u32 = 1024;
/** Size of a record; kernel.ts lists its fields. */
export const RECORD_BYTES: u32 = 64;

/**
 * Decoding tables of a block with codes of its own, and of one with fixed codes; each entry is a
 * `u32`.
 */
export const LITERAL_BITS: u32 = 10;
export const DISTANCE_BITS: u32 = 8;
export const LENGTH_BITS: u32 = 7;
/**
 * Entries of a table with all its subtables, for 288 symbols and 10 bits, and for 32 symbols and 8
 * bits: the largest that a complete code of 15 bits can need.
 *
 * @see examples/enough.c in the sources of zlib, which counts them.
 */
export const LITERAL_ENTRIES: u32 = 1334;
export const DISTANCE_ENTRIES: u32 = 402;
export const LENGTH_ENTRIES: u32 = 128;

// The compiler keeps the first kilobytes for static data.
const BASE: u32 = 16 * 1024;
export const LITERALS: u32 = BASE;
export const DISTANCES: u32 = LITERALS + 4 * LITERAL_ENTRIES;
export const FIXED_LITERALS: u32 = DISTANCES + 4 * DISTANCE_ENTRIES;
export const FIXED_DISTANCES: u32 = FIXED_LITERALS + 4 * LITERAL_ENTRIES;
export const CODE_LENGTHS: u32 = FIXED_DISTANCES + 4 * DISTANCE_ENTRIES;
/** Lengths of codes as a block lists them: a byte for each of 288 + 32 symbols. */
export const LENGTHS: u32 = CODE_LENGTHS + 4 * LENGTH_ENTRIES;
/** Symbols in canonical order, as `u16`. */
export const SORTED: u32 = LENGTHS + 512;
/** Number of codes of each length, then first index of each length in `SORTED`, each 16 `u32`. */
export const COUNTS: u32 = SORTED + 2 * 320;
export const STARTS: u32 = COUNTS + 64;
/** Meanings of the symbols: entries without the length of a code. */
export const LITERAL_MEANINGS: u32 = STARTS + 64;
export const DISTANCE_MEANINGS: u32 = LITERAL_MEANINGS + 4 * 288;
export const LENGTH_MEANINGS: u32 = DISTANCE_MEANINGS + 4 * 32;
/** Eight tables of CRC-32. */
export const CRC_TABLES: u32 = LENGTH_MEANINGS + 4 * 32;
/** The message schedule of SHA-1: 80 words. */
export const SCHEDULE: u32 = CRC_TABLES + 8 * 1024;
/** The state of SHA-1, and the padded end of its message: two blocks. */
export const HASH_STATE: u32 = SCHEDULE + 320;
export const HASH_TAIL: u32 = HASH_STATE + 32;
export const RECORDS: u32 = (HASH_TAIL + 128 + 63) & ~63;
export const INPUT: u32 = RECORDS + RECORDS_MAX * RECORD_BYTES;
/** Room for the header that is hashed before a content: in front of each output. */
export const OUTPUT: u32 = (INPUT + INPUT_BYTES + SLACK_BYTES + 63) & ~63;
export const MEMORY_END: u32 = OUTPUT + OUTPUT_BYTES + SLACK_BYTES;
