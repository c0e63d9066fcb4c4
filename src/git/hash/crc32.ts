// Table k holds the CRC of each byte value followed by k zero bytes, so four lookups fold in four
// bytes.
const TABLES = makeTables();

/**
 * Continues a CRC-32 over bytes `start` to `end`.
 *
 * @param crc The value so far, 0 at the beginning.
 * @returns An unsigned 32-bit value, as pack indexes store it.
 * @see RFC 1952, section 8; gitformat-pack(5), "pack-*.idx files".
 */
export function crc32(bytes: Uint8Array, start = 0, end = bytes.length, crc = 0): number {
  const tables = TABLES;
  let state = ~crc;
  let at = start;
  for (; at + 4 <= end; at += 4) {
    state ^=
      (bytes[at] as number) |
      ((bytes[at + 1] as number) << 8) |
      ((bytes[at + 2] as number) << 16) |
      ((bytes[at + 3] as number) << 24);
    state =
      (tables[768 + (state & 0xff)] as number) ^
      (tables[512 + ((state >>> 8) & 0xff)] as number) ^
      (tables[256 + ((state >>> 16) & 0xff)] as number) ^
      (tables[state >>> 24] as number);
  }
  for (; at < end; at++) {
    state = (state >>> 8) ^ (tables[(state ^ (bytes[at] as number)) & 0xff] as number);
  }
  return ~state >>> 0;
}

function makeTables(): Int32Array {
  const tables = new Int32Array(4 * 256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
    tables[byte] = crc;
  }
  for (let entry = 256; entry < tables.length; entry++) {
    const shorter = tables[entry - 256] as number;
    tables[entry] = (shorter >>> 8) ^ (tables[shorter & 0xff] as number);
  }
  return tables;
}
