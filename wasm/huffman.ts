import { COUNTS, SORTED, STARTS } from "./layout";

// An entry of a decoding table is one integer:
//   bits 0-7    bits that it consumes: those of the code, and the extra bits behind it
//   bits 8-11   bits of the code alone; for a subtable, the bits of its index
//   bits 12-15  flags
//   bits 16-30  the byte, the base to which the extra bits are added, or the start of the subtable
//   bit 31      a literal byte
export const LITERAL: u32 = 1 << 31;
export const EXCEPTIONAL: u32 = 1 << 15;
export const SUBTABLE: u32 = 1 << 14;
export const END_OF_BLOCK: u32 = 1 << 13;
/** No code, or a symbol that must not occur. */
export const INVALID: u32 = EXCEPTIONAL;

function entryOf(meaning: u32, bits: u32): u32 {
  return meaning + (bits << 8) + bits;
}

/**
 * Copies the first `count` entries of a table behind themselves. Too few for a call of
 * `memory.copy`, mostly.
 */
function doubleTable(table: u32, count: u32): void {
  const end = table + 4 * count;
  if (count < 4) {
    for (let at: u32 = 0; at < 4 * count; at += 4) store<u32>(end + at, load<u32>(table + at));
    return;
  }
  for (let at: u32 = 0; at < 4 * count; at += 16) v128.store(end + at, v128.load(table + at));
}

/** The next code of `length` bits in the order of reversed bits. */
function nextCode(code: u32, last: u32): u32 {
  const bit: u32 = 1 << (31 - clz<u32>(code ^ last));
  return (code & (bit - 1)) | bit;
}

/**
 * Builds a decoding table for the symbols whose code lengths are the `count` bytes at `lengths`.
 *
 * Codes of up to `indexBits` take one look-up, longer ones a second one in a subtable. The table is
 * filled for the shortest codes first and doubled for each further bit, so that most of it is
 * copied.
 *
 * @returns Number of bits of the index, at most `indexBits`; 0 if the lengths form no complete
 * prefix code. A code of at most one symbol of one bit counts as complete if `mayBeIncomplete`.
 */
export function buildTable(
  table: u32,
  indexBits: u32,
  lengths: u32,
  count: u32,
  meanings: u32,
  mayBeIncomplete: bool,
): u32 {
  for (let at: u32 = 0; at < 64; at += 16) v128.store(COUNTS + at, i32x4.splat(0));
  for (let symbol: u32 = 0; symbol < count; symbol++) {
    const counter = COUNTS + 4 * load<u8>(lengths + symbol);
    store<u32>(counter, load<u32>(counter) + 1);
  }
  store<u32>(COUNTS, 0);

  let left: i32 = 1;
  let total: u32 = 0;
  let longest: u32 = 0;
  for (let bits: u32 = 1; bits <= 15; bits++) {
    const codes = load<u32>(COUNTS + 4 * bits);
    left = 2 * left - codes;
    if (left < 0) return 0;
    store<u32>(STARTS + 4 * bits, total);
    total += codes;
    if (codes > 0) longest = bits;
  }
  if (left > 0) {
    if (!mayBeIncomplete || longest > 1) return 0;
    store<u32>(table, INVALID + 1);
    store<u32>(table + 4, INVALID + 1);
    for (let symbol: u32 = 0; symbol < count; symbol++) {
      if (load<u8>(lengths + symbol) === 1)
        store<u32>(table, entryOf(load<u32>(meanings + 4 * symbol), 1));
    }
    return 1;
  }
  for (let symbol: u32 = 0; symbol < count; symbol++) {
    const bits: u32 = load<u8>(lengths + symbol);
    if (bits === 0) continue;
    const start = load<u32>(STARTS + 4 * bits);
    store<u32>(STARTS + 4 * bits, start + 1);
    store<u16>(SORTED + 2 * start, symbol);
  }
  if (longest < indexBits) indexBits = longest;

  let next = SORTED;
  let code: u32 = 0;
  let bits: u32 = 1;
  let codes: u32;
  while ((codes = load<u32>(COUNTS + 4 * bits)) === 0) bits++;
  let end: u32 = 1 << bits;
  while (bits <= indexBits) {
    do {
      store<u32>(table + 4 * code, entryOf(load<u32>(meanings + 4 * load<u16>(next)), bits));
      next += 2;
      if (code === end - 1) {
        for (; bits < indexBits; bits++) {
          doubleTable(table, end);
          end <<= 1;
        }
        return indexBits;
      }
      code = nextCode(code, end - 1);
    } while (--codes);
    do {
      if (++bits <= indexBits) {
        doubleTable(table, end);
        end <<= 1;
      }
    } while ((codes = load<u32>(COUNTS + 4 * bits)) === 0);
  }

  const mask: u32 = (1 << indexBits) - 1;
  end = 1 << indexBits;
  let prefix: u32 = u32.MAX_VALUE;
  let start: u32 = 0;
  for (;;) {
    if ((code & mask) !== prefix) {
      prefix = code & mask;
      start = end;
      let subtableBits = bits - indexBits;
      let used = codes;
      while (used < u32(1 << subtableBits)) {
        subtableBits++;
        used = (used << 1) + load<u32>(COUNTS + 4 * (indexBits + subtableBits));
      }
      end = start + (1 << subtableBits);
      const pointer = EXCEPTIONAL | SUBTABLE | (start << 16) | (subtableBits << 8) | indexBits;
      store<u32>(table + 4 * prefix, pointer);
    }
    const entry = entryOf(load<u32>(meanings + 4 * load<u16>(next)), bits - indexBits);
    next += 2;
    const step: u32 = 1 << (bits - indexBits);
    for (let at = start + (code >>> indexBits); at < end; at += step) {
      store<u32>(table + 4 * at, entry);
    }
    const last: u32 = (1 << bits) - 1;
    if (code === last) break;
    code = nextCode(code, last);
    codes--;
    while (codes === 0) codes = load<u32>(COUNTS + 4 * ++bits);
  }
  return indexBits;
}
