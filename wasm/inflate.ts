import { adler32 } from "./checksums";
import { buildTable, END_OF_BLOCK, EXCEPTIONAL, INVALID, LITERAL, SUBTABLE } from "./huffman";
import {
  CODE_LENGTHS,
  DISTANCE_BITS,
  DISTANCE_MEANINGS,
  DISTANCES,
  FIXED_DISTANCES,
  FIXED_LITERALS,
  LENGTH_BITS,
  LENGTH_MEANINGS,
  LENGTHS,
  LITERAL_BITS,
  LITERAL_MEANINGS,
  LITERALS,
} from "./layout";

/** Results of `inflate` other than the end of the stream. */
export const CUT_OFF: u32 = 0;
export const REFUSED: u32 = 1;

/** The order in which a block lists the lengths of the code of code lengths. */
const CODE_LENGTH_ORDER = memory.data<u8>([
  16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
]);

let literalBits: u32 = 0;
let distanceBits: u32 = 0;
let fixedLiteralBits: u32 = 0;
let fixedDistanceBits: u32 = 0;

// The next bits of the stream, first bit lowest: `holdBits` of them, and above them perhaps more,
// which are read again.
let hold: u64 = 0;
let holdBits: u32 = 0;
let input: u32 = 0;

/** Makes 56 to 63 bits available. Reads up to eight bytes behind `input`. */
function fill(): void {
  hold |= load<u64>(input) << holdBits;
  input += (63 - holdBits) >> 3;
  holdBits |= 56;
}

function take(count: u32): u32 {
  const value = <u32>hold & ((1 << count) - 1);
  hold >>= count;
  holdBits -= count;
  return value;
}

/** What is read behind the end of the input makes no sense, and must not be refused for that. */
function refusal(at: u32, end: u32): u32 {
  return at > end ? CUT_OFF : REFUSED;
}

/** Makes the tables that are the same for all streams. */
export function makeInflateTables(): void {
  for (let byte: u32 = 0; byte < 256; byte++)
    store<u32>(LITERAL_MEANINGS + 4 * byte, LITERAL | (byte << 16));
  store<u32>(LITERAL_MEANINGS + 4 * 256, EXCEPTIONAL | END_OF_BLOCK);
  let base: u32 = 3;
  for (let symbol: u32 = 257; symbol < 285; symbol++) {
    const extraBits: u32 = symbol < 265 ? 0 : (symbol - 261) >> 2;
    store<u32>(LITERAL_MEANINGS + 4 * symbol, (base << 16) | extraBits);
    base += 1 << extraBits;
  }
  store<u32>(LITERAL_MEANINGS + 4 * 285, 258 << 16);
  store<u32>(LITERAL_MEANINGS + 4 * 286, INVALID);
  store<u32>(LITERAL_MEANINGS + 4 * 287, INVALID);
  base = 1;
  for (let symbol: u32 = 0; symbol < 30; symbol++) {
    const extraBits: u32 = symbol < 4 ? 0 : (symbol - 2) >> 1;
    store<u32>(DISTANCE_MEANINGS + 4 * symbol, (base << 16) | extraBits);
    base += 1 << extraBits;
  }
  store<u32>(DISTANCE_MEANINGS + 4 * 30, INVALID);
  store<u32>(DISTANCE_MEANINGS + 4 * 31, INVALID);
  for (let symbol: u32 = 0; symbol < 19; symbol++)
    store<u32>(LENGTH_MEANINGS + 4 * symbol, symbol << 16);

  memory.fill(LENGTHS, 8, 144);
  memory.fill(LENGTHS + 144, 9, 112);
  memory.fill(LENGTHS + 256, 7, 24);
  memory.fill(LENGTHS + 280, 8, 8);
  memory.fill(LENGTHS + 288, 5, 32);
  fixedLiteralBits = buildTable(
    FIXED_LITERALS,
    LITERAL_BITS,
    LENGTHS,
    288,
    LITERAL_MEANINGS,
    false,
  );
  fixedDistanceBits = buildTable(
    FIXED_DISTANCES,
    DISTANCE_BITS,
    LENGTHS + 288,
    32,
    DISTANCE_MEANINGS,
    false,
  );
}

/**
 * Inflates the zlib stream at `start` into the `sizeBytes` bytes at `output`.
 *
 * @param end End of the input. Up to `SLACK_BYTES` behind it are read, and ignored.
 * @returns Address after the stream, `CUT_OFF` if the input ends before it, or `REFUSED` if it is
 * no zlib stream of a content of this size.
 * @see RFC 1950 (zlib), RFC 1951 (deflate).
 */
export function inflate(start: u32, end: u32, output: u32, sizeBytes: u32): u32 {
  if (start + 2 > end) return CUT_OFF;
  const method: u32 = load<u8>(start);
  const flags: u32 = load<u8>(start + 1);
  if ((method & 15) !== 8 || method >>> 4 > 7 || ((method << 8) | flags) % 31 !== 0) return REFUSED;
  if (flags & 0x20) return REFUSED;
  input = start + 2;
  hold = 0;
  holdBits = 0;
  const outputEnd = output + sizeBytes;
  let to = output;
  for (;;) {
    fill();
    if (input - (holdBits >> 3) > end) return CUT_OFF;
    const isLast = take(1);
    const type = take(2);
    if (type === 0) {
      // The length starts at the next whole byte.
      input -= holdBits >> 3;
      hold = 0;
      holdBits = 0;
      if (input + 4 > end) return CUT_OFF;
      const length: u32 = load<u16>(input);
      if (length !== (<u32>load<u16>(input + 2) ^ 0xffff)) return REFUSED;
      input += 4;
      if (to + length > outputEnd) return REFUSED;
      if (input + length > end) return CUT_OFF;
      memory.copy(to, input, length);
      input += length;
      to += length;
    } else if (type === 3) {
      return REFUSED;
    } else {
      if (type === 1) {
        to = decode(
          end,
          output,
          to,
          outputEnd,
          FIXED_LITERALS,
          fixedLiteralBits,
          FIXED_DISTANCES,
          fixedDistanceBits,
        );
      } else {
        const stopped = readTables(end);
        if (stopped !== DONE) return stopped;
        to = decode(end, output, to, outputEnd, LITERALS, literalBits, DISTANCES, distanceBits);
      }
      if (to <= REFUSED) return to;
    }
    if (isLast) break;
  }
  input -= holdBits >> 3;
  if (input + 4 > end) return CUT_OFF;
  if (to !== outputEnd || bswap<u32>(load<u32>(input)) !== adler32(output, sizeBytes))
    return REFUSED;
  return input + 4;
}

const DONE: u32 = 2;

/** Reads the codes of a dynamic block; `DONE`, `CUT_OFF` or `REFUSED`. */
function readTables(end: u32): u32 {
  const literalCount = take(5) + 257;
  const distanceCount = take(5) + 1;
  const codeLengthCount = take(4) + 4;
  if (literalCount > 286 || distanceCount > 30) return REFUSED;
  v128.store(LENGTHS, i32x4.splat(0));
  store<u32>(LENGTHS + 16, 0);
  for (let at: u32 = 0; at < codeLengthCount; at++) {
    if (holdBits < 3) fill();
    store<u8>(LENGTHS + load<u8>(CODE_LENGTH_ORDER + at), take(3));
  }
  const bits = buildTable(CODE_LENGTHS, LENGTH_BITS, LENGTHS, 19, LENGTH_MEANINGS, false);
  if (bits === 0) return refusal(input - (holdBits >> 3), end);

  const mask: u32 = (1 << bits) - 1;
  const total = literalCount + distanceCount;
  let at: u32 = 0;
  while (at < total) {
    fill();
    if (input - (holdBits >> 3) > end) return CUT_OFF;
    const entry = load<u32>(CODE_LENGTHS + 4 * (<u32>hold & mask));
    take(entry & 15);
    const symbol = entry >>> 16;
    if (symbol < 16) {
      store<u8>(LENGTHS + at++, symbol);
      continue;
    }
    let repeated: u8 = 0;
    let count: u32;
    if (symbol === 16) {
      if (at === 0) return REFUSED;
      repeated = load<u8>(LENGTHS + at - 1);
      count = take(2) + 3;
    } else {
      count = symbol === 17 ? take(3) + 3 : take(7) + 11;
    }
    if (at + count > total) return REFUSED;
    // Up to 15 bytes more, which are overwritten or not read.
    const stop = at + count;
    const lengths = v128.splat<u8>(repeated);
    for (; at < stop; at += 16) v128.store(LENGTHS + at, lengths);
    at = stop;
  }
  if (input - (holdBits >> 3) > end) return CUT_OFF;
  if (load<u8>(LENGTHS + 256) === 0) return REFUSED;
  literalBits = buildTable(LITERALS, LITERAL_BITS, LENGTHS, literalCount, LITERAL_MEANINGS, true);
  distanceBits = buildTable(
    DISTANCES,
    DISTANCE_BITS,
    LENGTHS + literalCount,
    distanceCount,
    DISTANCE_MEANINGS,
    true,
  );
  return literalBits !== 0 && distanceBits !== 0 ? DONE : REFUSED;
}

/**
 * Decodes the symbols of a block to its end.
 *
 * One round of the loop writes at most three literals and a match, and 15 bytes behind the match:
 * what is written behind `outputEnd` stays within the slack, and is refused in the next round.
 *
 * @param begin Start of the stream's output, before which no match may reach.
 * @returns Address after the output, `CUT_OFF` or `REFUSED`.
 */
function decode(
  end: u32,
  begin: u32,
  to: u32,
  outputEnd: u32,
  literals: u32,
  literalTableBits: u32,
  distances: u32,
  distanceTableBits: u32,
): u32 {
  const literalMask: u32 = (1 << literalTableBits) - 1;
  const distanceMask: u32 = (1 << distanceTableBits) - 1;
  let bits = hold;
  let count = holdBits;
  let from = input;
  let entry: u32 = 0;
  for (;;) {
    bits |= load<u64>(from) << count;
    from += (63 - count) >> 3;
    count |= 56;
    if (from - (count >> 3) > end) return CUT_OFF;
    if (to > outputEnd) return REFUSED;

    entry = load<u32>(literals + ((<u32>bits & literalMask) << 2));
    if (entry & LITERAL) {
      bits >>= entry;
      count -= entry & 63;
      store<u8>(to++, entry >>> 16);
      entry = load<u32>(literals + ((<u32>bits & literalMask) << 2));
      if (entry & LITERAL) {
        bits >>= entry;
        count -= entry & 63;
        store<u8>(to++, entry >>> 16);
        entry = load<u32>(literals + ((<u32>bits & literalMask) << 2));
        if (entry & LITERAL) {
          bits >>= entry;
          count -= entry & 63;
          store<u8>(to++, entry >>> 16);
          continue;
        }
      }
    }
    // At most 20 bits are used: 36 are left, and the rest of a length takes 20.
    if (entry & EXCEPTIONAL) {
      if (entry & SUBTABLE) {
        bits >>= entry;
        count -= entry & 63;
        const index = (entry >>> 16) + (<u32>bits & ((1 << ((entry >> 8) & 15)) - 1));
        entry = load<u32>(literals + (index << 2));
        if (entry & LITERAL) {
          bits >>= entry;
          count -= entry & 63;
          store<u8>(to++, entry >>> 16);
          continue;
        }
      }
      if (entry & EXCEPTIONAL) {
        if (!(entry & END_OF_BLOCK)) return refusal(from - (count >> 3), end);
        break;
      }
    }
    let saved = <u32>bits & ((1 << (entry & 63)) - 1);
    bits >>= entry;
    count -= entry & 63;
    const length = (entry >>> 16) + (saved >>> ((entry >>> 8) & 15));

    bits |= load<u64>(from) << count;
    from += (63 - count) >> 3;
    count |= 56;
    entry = load<u32>(distances + ((<u32>bits & distanceMask) << 2));
    if (entry & EXCEPTIONAL) {
      if (!(entry & SUBTABLE)) return refusal(from - (count >> 3), end);
      bits >>= entry;
      count -= entry & 63;
      const index = (entry >>> 16) + (<u32>bits & ((1 << ((entry >> 8) & 15)) - 1));
      entry = load<u32>(distances + (index << 2));
      if (entry & EXCEPTIONAL) return refusal(from - (count >> 3), end);
    }
    saved = <u32>bits & ((1 << (entry & 63)) - 1);
    bits >>= entry;
    count -= entry & 63;
    const distance = (entry >>> 16) + (saved >>> ((entry >>> 8) & 15));

    if (distance > to - begin) return refusal(from - (count >> 3), end);
    const stop = to + length;
    if (stop > outputEnd) return refusal(from - (count >> 3), end);
    let source = to - distance;
    if (distance >= 16) {
      do {
        v128.store(to, v128.load(source));
        to += 16;
        source += 16;
      } while (to < stop);
    } else if (distance >= 8) {
      do {
        store<u64>(to, load<u64>(source));
        to += 8;
        source += 8;
      } while (to < stop);
    } else if (distance === 1) {
      const byte = v128.splat<u8>(load<u8>(source));
      do {
        v128.store(to, byte);
        to += 16;
      } while (to < stop);
    } else {
      do {
        store<u8>(to++, load<u8>(source++));
      } while (to < stop);
    }
    to = stop;
  }
  hold = bits >> entry;
  holdBits = count - (entry & 63);
  input = from;
  return to;
}
