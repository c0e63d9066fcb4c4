import { CRC_TABLES } from "./layout";

const MODULUS: u32 = 65521;
/**
 * Bytes between two reductions of Adler-32: as many as keep the sums below 2^32, in whole blocks of
 * 16.
 */
const STRIDE_BYTES: u32 = 5536;

/** The Adler-32 checksum of `length` bytes at `start`. */
export function adler32(start: u32, length: u32): u32 {
  let low: u32 = 1;
  let high: u32 = 0;
  let at = start;
  const end = start + length;
  while (at + 16 <= end) {
    const blocks = min(end - at, STRIDE_BYTES) >> 4;
    // Lane sums of the bytes so far, of those before each block, and of the bytes weighted by their
    // distance to the block's end.
    let sums = i32x4.splat(0);
    let before = i32x4.splat(0);
    let weighted = i32x4.splat(0);
    const stop = at + (blocks << 4);
    for (; at < stop; at += 16) {
      const bytes = v128.load(at);
      const first = i16x8.extend_low_i8x16_u(bytes);
      const second = i16x8.extend_high_i8x16_u(bytes);
      before = i32x4.add(before, sums);
      sums = i32x4.add(sums, i32x4.extadd_pairwise_i16x8_u(i16x8.add(first, second)));
      weighted = i32x4.add(
        weighted,
        i32x4.dot_i16x8_s(first, i16x8(16, 15, 14, 13, 12, 11, 10, 9)),
      );
      weighted = i32x4.add(weighted, i32x4.dot_i16x8_s(second, i16x8(8, 7, 6, 5, 4, 3, 2, 1)));
    }
    high = (high + low * (blocks << 4)) % MODULUS;
    high = (high + 16 * (sumOf(before) % MODULUS) + sumOf(weighted)) % MODULUS;
    low = (low + sumOf(sums)) % MODULUS;
  }
  for (; at < end; at++) {
    low += load<u8>(at);
    high += low;
  }
  return ((high % MODULUS) << 16) | (low % MODULUS);
}

function sumOf(lanes: v128): u32 {
  return (
    i32x4.extract_lane(lanes, 0) +
    i32x4.extract_lane(lanes, 1) +
    i32x4.extract_lane(lanes, 2) +
    i32x4.extract_lane(lanes, 3)
  );
}

/** Table k holds the CRC of each byte value followed by k zero bytes. */
export function makeCrcTables(): void {
  for (let byte: u32 = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
    store<u32>(CRC_TABLES + 4 * byte, crc);
  }
  for (let entry: u32 = 256; entry < 8 * 256; entry++) {
    const shorter = load<u32>(CRC_TABLES + 4 * (entry - 256));
    store<u32>(CRC_TABLES + 4 * entry, (shorter >>> 8) ^ crcOf(0, shorter & 0xff));
  }
}

/** The entry of a byte in a table. */
function crcOf(table: u32, byte: u32): u32 {
  return load<u32>(CRC_TABLES + 1024 * table + 4 * byte);
}

/** The CRC-32 of the bytes from `at` to `end`. */
export function crc32(at: u32, end: u32): u32 {
  let crc: u32 = ~0;
  for (; at + 8 <= end; at += 8) {
    const low = load<u32>(at) ^ crc;
    const high = load<u32>(at + 4);
    crc =
      crcOf(7, low & 0xff) ^
      crcOf(6, (low >>> 8) & 0xff) ^
      crcOf(5, (low >>> 16) & 0xff) ^
      crcOf(4, low >>> 24) ^
      crcOf(3, high & 0xff) ^
      crcOf(2, (high >>> 8) & 0xff) ^
      crcOf(1, (high >>> 16) & 0xff) ^
      crcOf(0, high >>> 24);
  }
  for (; at < end; at++) crc = (crc >>> 8) ^ crcOf(0, (crc ^ load<u8>(at)) & 0xff);
  return ~crc;
}
