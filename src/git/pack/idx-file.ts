import type { Steps } from "../budget.ts";
import type { Codec } from "../codec.ts";
import { corrupt, GitError } from "../error.ts";
import { digestInParts } from "../object/hash-object.ts";
import { compareOidBytes, formatOid, type Oid, OID_BYTES, oidBytes } from "../oid.ts";
import { sortByOid } from "./oid-order.ts";
import type { PackTable } from "./pack-table.ts";

const MAGIC = 0xff744f63;
const HEADER_BYTES = 8;
const FANOUT_BYTES = 256 * 4;
/** Length of what is before the ids, in bytes. */
export const IDX_HEADER_BYTES = HEADER_BYTES + FANOUT_BYTES;
/** Entries after which the formatting yields, and steps to format one. */
const PART_ENTRIES = 8192;
const STEPS_PER_ENTRY = 10;
/** Offsets of at least this value are stored in a table of 64-bit numbers. */
export const LARGE_OFFSET = 0x80000000;

/**
 * Formats the `.idx` of a pack, version 2, byte for byte as git does.
 *
 * @param checksum The pack's trailing hash, in hex.
 * @param largeOffset Smallest offset that is stored in 64 bits; lowered only in tests.
 * @throws GitError `corrupt` if the pack contains an object twice.
 * @see gitformat-pack(5), "Version 2 pack-*.idx files".
 */
export function* formatIdx(
  table: PackTable,
  checksum: string,
  codec: Codec,
  largeOffset = LARGE_OFFSET,
): Steps<Uint8Array> {
  const { count, oids } = table;
  const order = yield* sortByOid(oids, count);
  let largeCount = 0;
  for (let entry = 0; entry < count; entry++) {
    if (entry % PART_ENTRIES === 0) yield PART_ENTRIES;
    if (table.offset(entry) >= largeOffset) largeCount++;
  }
  const oidsAt = HEADER_BYTES + FANOUT_BYTES;
  const crcsAt = oidsAt + count * OID_BYTES;
  const offsetsAt = crcsAt + count * 4;
  const largeAt = offsetsAt + count * 4;
  const trailerAt = largeAt + largeCount * 8;
  const bytes = new Uint8Array(trailerAt + 2 * OID_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, MAGIC);
  view.setUint32(4, 2);

  let large = 0;
  let last = -1;
  for (let position = 0; position < count; position++) {
    if (position % PART_ENTRIES === 0) yield STEPS_PER_ENTRY * PART_ENTRIES;
    const entry = order[position] as number;
    const oidAt = entry * OID_BYTES;
    if (last >= 0 && compareOidBytes(oids, last, oids, oidAt) === 0) {
      throw corrupt(`pack: object ${formatOid(oids, oidAt)} is there twice`);
    }
    last = oidAt;
    bytes.set(oids.subarray(oidAt, oidAt + OID_BYTES), oidsAt + position * OID_BYTES);
    view.setUint32(crcsAt + position * 4, table.crcs[entry] as number);
    const offset = table.offset(entry);
    if (offset >= largeOffset) {
      view.setUint32(offsetsAt + position * 4, LARGE_OFFSET + large);
      view.setBigUint64(largeAt + large++ * 8, BigInt(offset));
    } else {
      view.setUint32(offsetsAt + position * 4, offset);
    }
    // The fanout of a first byte counts all ids up to it, so later entries overwrite it.
    view.setUint32(HEADER_BYTES + (oids[oidAt] as number) * 4, position + 1);
  }
  for (let byte = 1; byte < 256; byte++) {
    const at = HEADER_BYTES + byte * 4;
    view.setUint32(at, Math.max(view.getUint32(at), view.getUint32(at - 4)));
  }
  bytes.set(oidBytes(checksum), trailerAt);
  bytes.set(
    yield* digestInParts(bytes.subarray(0, trailerAt + OID_BYTES), codec),
    trailerAt + OID_BYTES,
  );
  return bytes;
}

/** Formats what is before the ids. @param counts How many ids begin with each byte. */
export function formatIdxHeader(counts: Uint32Array): Uint8Array {
  const bytes = new Uint8Array(IDX_HEADER_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, MAGIC);
  view.setUint32(4, 2);
  let total = 0;
  for (const [byte, count] of counts.entries()) {
    total += count;
    view.setUint32(HEADER_BYTES + byte * 4, total);
  }
  return bytes;
}

/**
 * Reads an `.idx` that is entirely in memory. Objects are addressed by their position in it, which
 * is their rank by id.
 */
export class IdxFile {
  readonly count: number;
  private readonly bytes: Uint8Array;
  private readonly view: DataView;
  private offsets: Float64Array | undefined;

  /**
   * @throws GitError `unsupported` for another version, `corrupt` if the tables do not fit the
   * file. The checksum is not verified here: see `verifyIdx`.
   */
  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const trailersBytes = 2 * OID_BYTES;
    if (bytes.length < HEADER_BYTES + FANOUT_BYTES + trailersBytes) throw corrupt("idx: cut off");
    if (this.view.getUint32(0) !== MAGIC || this.view.getUint32(4) !== 2) {
      throw new GitError("unsupported", "idx: not of version 2");
    }
    let count = 0;
    for (let byte = 0; byte < 256; byte++) {
      const next = this.view.getUint32(HEADER_BYTES + byte * 4);
      if (next < count) throw corrupt("idx: fanout not sorted");
      count = next;
    }
    this.count = count;
    const smallBytes = HEADER_BYTES + FANOUT_BYTES + count * (OID_BYTES + 8) + trailersBytes;
    const largeBytes = bytes.length - smallBytes;
    if (largeBytes < 0 || largeBytes % 8 !== 0 || largeBytes > count * 8) {
      throw corrupt("idx: of another length");
    }
  }

  /** Hash of the pack that the index belongs to. */
  get packChecksum(): string {
    return formatOid(this.bytes, this.bytes.length - 2 * OID_BYTES);
  }

  /** Offsets of all entries, ascending. Computed on first use: eight bytes per object. */
  get sortedOffsets(): Float64Array {
    if (this.offsets) return this.offsets;
    const offsets = new Float64Array(this.count);
    for (let position = 0; position < this.count; position++) {
      offsets[position] = this.offset(position);
    }
    offsets.sort();
    this.offsets = offsets;
    return offsets;
  }

  /** Offset of the table of raw ids. */
  get oidsOffset(): number {
    return HEADER_BYTES + FANOUT_BYTES;
  }

  /** The raw ids, sorted. */
  get oids(): Uint8Array {
    return this.bytes.subarray(this.oidsOffset, this.oidsOffset + this.count * OID_BYTES);
  }

  oid(position: number): Oid {
    return formatOid(this.bytes, this.oidsOffset + position * OID_BYTES);
  }

  crc(position: number): number {
    return this.view.getUint32(this.oidsOffset + this.count * OID_BYTES + position * 4);
  }

  /** Returns the offset of the object's entry in the pack, in bytes. */
  offset(position: number): number {
    const offsetsAt = this.oidsOffset + this.count * (OID_BYTES + 4);
    const offset = this.view.getUint32(offsetsAt + position * 4);
    if (offset < LARGE_OFFSET) return offset;
    const largeAt = offsetsAt + this.count * 4 + (offset - LARGE_OFFSET) * 8;
    if (largeAt + 8 > this.bytes.length - 2 * OID_BYTES) throw corrupt("idx: no such offset");
    const large = this.view.getBigUint64(largeAt);
    if (large > BigInt(Number.MAX_SAFE_INTEGER)) throw corrupt("idx: offset too large");
    return Number(large);
  }

  /**
   * Returns the position of the object with the raw id at `oid[offset..]`, -1 if it is not in the
   * pack.
   */
  find(oid: Uint8Array, offset = 0): number {
    const first = oid[offset] as number;
    let low = first === 0 ? 0 : this.view.getUint32(HEADER_BYTES + (first - 1) * 4);
    let high = this.view.getUint32(HEADER_BYTES + first * 4) - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const difference = compareOidBytes(
        this.bytes,
        this.oidsOffset + middle * OID_BYTES,
        oid,
        offset,
      );
      if (difference === 0) return middle;
      if (difference < 0) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }

  /** Returns the range of positions whose hex id starts with `prefix`; `end` is exclusive. */
  findPrefix(prefix: string): { start: number; end: number } {
    const low = this.lowerBound(oidBytes(prefix.padEnd(40, "0")));
    let high = this.lowerBound(oidBytes(prefix.padEnd(40, "f")));
    if (high < this.count && this.oid(high).startsWith(prefix)) high++;
    return { start: low, end: high };
  }

  private lowerBound(oid: Uint8Array): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const at = this.oidsOffset + middle * OID_BYTES;
      if (compareOidBytes(this.bytes, at, oid, 0) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
