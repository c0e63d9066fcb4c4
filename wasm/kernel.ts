/**
 * The inner loops of receiving a pack, for the usual entries: those that are in memory from their
 * first byte to their last, and valid, and of no more than `CONTENT_BYTES_MAX` bytes. Everything
 * else is left to the caller, which decides what is wrong with it: the kernel reports no errors.
 *
 * Between two calls it keeps only its tables, so that all pushes of an isolate share one.
 */
import { crc32, makeCrcTables } from "./checksums";
import { applyDelta } from "./delta";
import { CUT_OFF, inflate, makeInflateTables, REFUSED } from "./inflate";
import {
  CONTENT_BYTES_MAX,
  INPUT,
  INPUT_BYTES,
  OUTPUT,
  OUTPUT_BYTES,
  RECORD_BYTES,
  RECORDS,
  RECORDS_MAX,
} from "./layout";
import { sha1 } from "./sha1";

const REF_DELTA: u32 = 7;
const OFS_DELTA: u32 = 6;
const OID_BYTES: u32 = 20;
/** Room for the header that is hashed in front of a content. */
const HEADER_BYTES: u32 = 32;
/**
 * `commit `, `tree `, `blob ` and `tag `, eight bytes each: the names of kinds in the header that
 * is hashed.
 */
const KINDS = memory.data<u8>([
  0x63, 0x6f, 0x6d, 0x6d, 0x69, 0x74, 0x20, 0x00, 0x74, 0x72, 0x65, 0x65, 0x20, 0x00, 0x00, 0x00,
  0x62, 0x6c, 0x6f, 0x62, 0x20, 0x00, 0x00, 0x00, 0x74, 0x61, 0x67, 0x20, 0x00, 0x00, 0x00, 0x00,
]);

let isInputShort = false;

/** Whether the last `scan` ended because the input ends inside an entry, or before one. */
export function isCutOff(): bool {
  return isInputShort;
}

/** Addresses and sizes of the areas that the caller reads and writes. */
export function inputStart(): u32 {
  return INPUT;
}
export function inputBytes(): u32 {
  return INPUT_BYTES;
}
export function outputStart(): u32 {
  return OUTPUT + HEADER_BYTES;
}
export function contentBytesMax(): u32 {
  return CONTENT_BYTES_MAX;
}
export function recordsStart(): u32 {
  return RECORDS;
}

/**
 * Reads entries from the input until one is unusual or cut off, or the output or the records are
 * full. A record is 16 `u32`:
 *
 *  0  type: 1 to 4, 6 or 7
 *  1  size of the content or delta, in bytes
 *  2  start of the entry
 *  3  end of its header
 *  4  end of the entry
 *  5  CRC-32 of the entry
 *  6  start of its content or delta
 *  7  1 if the object's id is in the record
 *  8  for an `OFS_DELTA`: distance from the start of its base
 *  9  to 13: raw id of an object that is stored whole
 *
 * @param at           Start of the first entry, an address in the input.
 * @param end          End of the input.
 * @param countMax     Entries to read at most.
 * @param hashBytesMax Contents up to this size are hashed.
 * @returns Number of records.
 */
export function scan(at: u32, end: u32, countMax: u32, hashBytesMax: u32): u32 {
  if (countMax > RECORDS_MAX) countMax = RECORDS_MAX;
  let output = OUTPUT + HEADER_BYTES;
  let record = RECORDS;
  isInputShort = false;
  const recordsEnd = RECORDS + countMax * RECORD_BYTES;
  while (record < recordsEnd) {
    const start = at;
    if (at >= end) {
      isInputShort = true;
      break;
    }
    let byte: u32 = load<u8>(at++);
    const type = (byte >>> 4) & 7;
    if (type === 0 || type === 5) break;
    let size = byte & 15;
    for (let shift: u32 = 4; byte & 0x80 && shift < 32; shift += 7) {
      byte = load<u8>(at++);
      // Digits that do not fit are lost: the size is too large for the kernel anyway.
      if (shift === 25 && (byte & 0x7f) !== 0) size = u32.MAX_VALUE;
      else size |= (byte & 0x7f) << shift;
    }
    if (byte & 0x80 || size > CONTENT_BYTES_MAX || at > end) break;
    if (output + size > OUTPUT + OUTPUT_BYTES) break;
    let distance: u32 = 0;
    if (type === REF_DELTA) {
      at += OID_BYTES;
    } else if (type === OFS_DELTA) {
      byte = load<u8>(at++);
      distance = byte & 0x7f;
      for (let digits = 0; byte & 0x80 && digits < 3; digits++) {
        byte = load<u8>(at++);
        distance = ((distance + 1) << 7) | (byte & 0x7f);
      }
      if (byte & 0x80) break;
    }
    const next = at > end ? CUT_OFF : inflate(at, end, output, size);
    if (next === CUT_OFF || next === REFUSED) {
      isInputShort = next === CUT_OFF;
      break;
    }

    const isHashed = type < 5 && size <= hashBytesMax;
    if (isHashed) hashObject(type, output, size, record + 36);
    store<u32>(record, type);
    store<u32>(record + 4, size);
    store<u32>(record + 8, start);
    store<u32>(record + 12, at);
    store<u32>(record + 16, next);
    store<u32>(record + 20, crc32(start, next));
    store<u32>(record + 24, output);
    store<u32>(record + 28, isHashed);
    store<u32>(record + 32, distance);
    record += RECORD_BYTES;
    output = (output + size + HEADER_BYTES + 15) & ~15;
    at = next;
  }
  return (record - RECORDS) / RECORD_BYTES;
}

/**
 * Inflates the stream at the start of the input into the output.
 *
 * @param length End of the input.
 * @returns Length of the stream; 0 if it does not end within the input, or is no zlib stream of
 *   this size.
 */
export function inflateOne(length: u32, sizeBytes: u32): u32 {
  const next = inflate(INPUT, INPUT + length, OUTPUT + HEADER_BYTES, sizeBytes);
  return next === CUT_OFF || next === REFUSED ? 0 : next - INPUT;
}

/**
 * Makes an object from a base at the start of the input and a delta behind it.
 *
 * @param deltaStart   Offset of the delta's first instruction in the input.
 * @param deltaEnd     End of the delta.
 * @param kind         1 to 4.
 * @param hashBytesMax Objects up to this size are hashed.
 * @returns Whether the object is in the output, and its id in the first record.
 */
export function resolve(
  baseBytes: u32,
  deltaStart: u32,
  deltaEnd: u32,
  resultBytes: u32,
  kind: u32,
  hashBytesMax: u32,
): bool {
  const output = OUTPUT + HEADER_BYTES;
  if (!applyDelta(INPUT, baseBytes, INPUT + deltaStart, INPUT + deltaEnd, output, resultBytes))
    return false;
  if (resultBytes <= hashBytesMax) hashObject(kind, output, resultBytes, RECORDS);
  return true;
}

/** Writes the id of an object to `oid`. Its header is written in front of the content. */
function hashObject(kind: u32, content: u32, size: u32, oid: u32): void {
  let at = content - 1;
  store<u8>(at, 0);
  let rest = size;
  do {
    store<u8>(--at, 0x30 + (rest % 10));
    rest /= 10;
  } while (rest > 0);
  const name = load<u64>(KINDS + 8 * (kind - 1));
  const length: u32 = 8 - (<u32>clz<u64>(name) >> 3);
  at -= length;
  for (let byte: u32 = 0; byte < length; byte++) store<u8>(at + byte, name >> (8 * byte));
  sha1(at, content - at + size, oid);
}

makeCrcTables();
makeInflateTables();
