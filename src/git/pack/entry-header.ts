import { corrupt } from "../error.ts";
import { OID_BYTES } from "../oid.ts";

/** Entry types of deltas, beside the four object types. */
export const OFS_DELTA = 6;
export const REF_DELTA = 7;

export interface EntryHeader {
  /** 1 to 4 for an object stored whole, `OFS_DELTA` or `REF_DELTA` for a delta. */
  readonly type: number;
  /** Inflated size of the object or delta. */
  readonly sizeBytes: number;
  /**
   * For `OFS_DELTA`: distance from the start of the base to the start of this entry, in bytes. 0
   * otherwise.
   */
  readonly baseDistance: number;
  /** For `REF_DELTA`: offset of the base's raw id in `bytes`. -1 otherwise. */
  readonly baseOidOffset: number;
  /** Offset after the header. */
  readonly next: number;
}

/**
 * Parses the header of the pack entry at `offset`.
 *
 * @returns Undefined while the header is incomplete.
 * @throws GitError `corrupt` for a type that does not exist or a number beyond 2^53.
 * @see gitformat-pack(5), "Pack entries".
 */
export function readEntryHeader(
  bytes: Uint8Array,
  offset: number,
  end = bytes.length,
): EntryHeader | undefined {
  let at = offset;
  if (at >= end) return undefined;
  let byte = bytes[at++] as number;
  const type = (byte >>> 4) & 7;
  if (type === 0 || type === 5) throw corrupt(`pack: entry of type ${type}`);
  let sizeBytes = byte & 15;
  for (let scale = 16; byte & 0x80; scale *= 128) {
    // SECURITY: without a bound, digits of 0 could go on forever, and end in a size that is no
    // number.
    if (scale > Number.MAX_SAFE_INTEGER) throw corrupt("pack: entry size");
    if (at >= end) return undefined;
    byte = bytes[at++] as number;
    sizeBytes += (byte & 0x7f) * scale;
    if (sizeBytes > Number.MAX_SAFE_INTEGER) throw corrupt("pack: entry size");
  }
  if (type === REF_DELTA) {
    if (at + OID_BYTES > end) return undefined;
    return { type, sizeBytes, baseDistance: 0, baseOidOffset: at, next: at + OID_BYTES };
  }
  if (type !== OFS_DELTA) {
    return { type, sizeBytes, baseDistance: 0, baseOidOffset: -1, next: at };
  }
  if (at >= end) return undefined;
  byte = bytes[at++] as number;
  let baseDistance = byte & 0x7f;
  while (byte & 0x80) {
    if (at >= end) return undefined;
    byte = bytes[at++] as number;
    baseDistance = (baseDistance + 1) * 128 + (byte & 0x7f);
    if (baseDistance > Number.MAX_SAFE_INTEGER) throw corrupt("pack: base offset");
  }
  return { type, sizeBytes, baseDistance, baseOidOffset: -1, next: at };
}

/** Formats the header of an entry. A delta's base follows it. */
export function formatEntryHeader(type: number, sizeBytes: number): Uint8Array {
  const bytes: number[] = [];
  let rest = Math.floor(sizeBytes / 16);
  bytes.push((type << 4) | (sizeBytes % 16) | (rest > 0 ? 0x80 : 0));
  while (rest > 0) {
    const low = rest % 128;
    rest = Math.floor(rest / 128);
    bytes.push(low | (rest > 0 ? 0x80 : 0));
  }
  return Uint8Array.from(bytes);
}

/** Formats the distance to an `OFS_DELTA`'s base, which follows the entry header. */
export function formatBaseDistance(distance: number): Uint8Array {
  const bytes = [distance % 128];
  for (let rest = Math.floor(distance / 128); rest > 0; rest = Math.floor(rest / 128)) {
    rest--;
    bytes.unshift((rest % 128) | 0x80);
  }
  return Uint8Array.from(bytes);
}
