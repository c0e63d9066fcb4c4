import { OID_BYTES } from "../oid.ts";
import { KeptDeltas } from "./kept-deltas.ts";

/**
 * Marks the absence of an entry: an object stored whole has no base, and a base may be outside of
 * the pack.
 */
export const NO_ENTRY = -1;

const START_ENTRIES = 1024;
/** Growth factor once the expected number of entries is exceeded. */
const GROWTH = 1.25;
/** Size of one entry in all arrays, in bytes. */
const ENTRY_BYTES = 8 + 1 + 1 + 8 + 4 + 4 + 2 + OID_BYTES;

/**
 * The entries of a pack, in pack order: about 50 bytes per entry, independent of object sizes.
 * Entries are addressed by their index in the table.
 *
 * Arrays are longer than `count` and are replaced when they grow: read them from the table each
 * time, and do not retain them.
 */
export class PackTable {
  count = 0;
  /** Number of entries announced. Memory for them is allocated only as they arrive. */
  expected = 0;
  /** Start of each entry in the pack, in bytes, followed by the end of the last one. */
  offsets = new Float64Array(START_ENTRIES);
  /** Type in the entry's header: 1 to 4, or 6 or 7 for a delta. */
  types = new Uint8Array(START_ENTRIES);
  /** Kind of the object, 1 to 4; 0 for an unresolved delta. */
  kinds = new Uint8Array(START_ENTRIES);
  /** Size of the object in bytes; for an unresolved delta, the size of the delta. */
  sizes = new Float64Array(START_ENTRIES);
  /** CRC-32 of the entry as stored. */
  crcs = new Uint32Array(START_ENTRIES);
  /** Entry of the delta's base, `NO_ENTRY` for an object stored whole or an unknown base. */
  bases = new Int32Array(START_ENTRIES);
  /** Length of the delta chain below the entry. */
  depths = new Uint16Array(START_ENTRIES);
  /** Raw ids, 20 bytes each. Zero for an unresolved delta. */
  oids = new Uint8Array(START_ENTRIES * OID_BYTES);
  /** Deltas that are too large for memory, or whose base or result is. */
  readonly largeDeltas = new Set<number>();
  /** Raw ids of the bases of `REF_DELTA` entries, by entry. */
  readonly refBases = new Map<number, Uint8Array>();
  /** Deltas that were inflated and are not resolved yet. */
  readonly deltas = new KeptDeltas();

  /** Size of the arrays and of the kept deltas in bytes. */
  get heldBytes(): number {
    return this.offsets.length * ENTRY_BYTES + this.deltas.heldBytes;
  }

  /** Adds an entry and returns its index. */
  add(type: number, offset: number, sizeBytes: number): number {
    const index = this.count++;
    // One more than the entries, for the end of the last entry.
    if (this.count >= this.offsets.length) this.grow();
    this.types[index] = type;
    this.kinds[index] = type <= 4 ? type : 0;
    this.offsets[index] = offset;
    this.sizes[index] = sizeBytes;
    this.bases[index] = NO_ENTRY;
    return index;
  }

  offset(index: number): number {
    return this.offsets[index] as number;
  }

  /** Returns the offset after the entry. */
  end(index: number): number {
    return this.offsets[index + 1] as number;
  }

  kind(index: number): number {
    return this.kinds[index] as number;
  }

  isDelta(index: number): boolean {
    return (this.types[index] as number) > 4;
  }

  /** Returns the raw id of an entry, as a view. */
  oid(index: number): Uint8Array {
    return this.oids.subarray(index * OID_BYTES, (index + 1) * OID_BYTES);
  }

  /**
   * Returns the entry that starts at `offset`, `NO_ENTRY` if there is none. Cost: a binary search.
   */
  findOffset(offset: number): number {
    let low = 0;
    let high = this.count - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const found = this.offsets[middle] as number;
      if (found === offset) return middle;
      if (found < offset) low = middle + 1;
      else high = middle - 1;
    }
    return NO_ENTRY;
  }

  /**
   * Enlarges the arrays: doubles them up to the announced number of entries, then grows by
   * `GROWTH`.
   */
  private grow(): void {
    const { length: current } = this.offsets;
    const doubled = Math.min(current * 2, this.expected + 1);
    const length = doubled > current ? doubled : Math.ceil(current * GROWTH);
    this.offsets = resize(this.offsets, new Float64Array(length));
    this.types = resize(this.types, new Uint8Array(length));
    this.kinds = resize(this.kinds, new Uint8Array(length));
    this.sizes = resize(this.sizes, new Float64Array(length));
    this.crcs = resize(this.crcs, new Uint32Array(length));
    this.bases = resize(this.bases, new Int32Array(length));
    this.depths = resize(this.depths, new Uint16Array(length));
    this.oids = resize(this.oids, new Uint8Array(length * OID_BYTES));
  }
}

function resize<T extends { set(from: T): void }>(from: T, to: T): T {
  to.set(from);
  return to;
}
