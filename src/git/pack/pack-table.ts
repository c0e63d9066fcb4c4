import { OID_BYTES } from "../oid.ts";

/** No entry of this pack: a whole object has no base, and a base may lie elsewhere. */
export const NO_ENTRY = -1;

const START_ENTRIES = 1024;
/** How much room is made beyond what was expected. */
const GROWTH = 1.25;
/** Bytes of one entry in all arrays. */
const ENTRY_BYTES = 8 + 1 + 1 + 8 + 4 + 4 + 2 + OID_BYTES;

/**
 * What is known of each entry of a pack, in pack order: about 50 bytes an entry, whatever the
 * objects weigh. Entries are named by their index here.
 *
 * Arrays are longer than `count`, and are replaced when they grow: read them from the table each
 * time, never keep one.
 */
export class PackTable {
  count = 0;
  /** Entries that are said to come. Room for them is made as they do. */
  expected = 0;
  /** Where each entry starts in the pack, in bytes. The one behind the last is its end. */
  offsets = new Float64Array(START_ENTRIES);
  /** Type in the entry's header: 1 to 4, or a delta's 6 or 7. */
  types = new Uint8Array(START_ENTRIES);
  /** Kind of the object, 1 to 4; 0 while a delta is not resolved. */
  kinds = new Uint8Array(START_ENTRIES);
  /** Size of the object in bytes; of the delta, while it is not resolved. */
  sizes = new Float64Array(START_ENTRIES);
  /** CRC-32 of the entry as stored. */
  crcs = new Uint32Array(START_ENTRIES);
  /** Entry of the delta's base, `NO_ENTRY` for a whole object or a base that is not known yet. */
  bases = new Int32Array(START_ENTRIES);
  /** Deltas from here to a whole object. */
  depths = new Uint16Array(START_ENTRIES);
  /** Raw ids, 20 bytes each. Zero while a delta is not resolved. */
  oids = new Uint8Array(START_ENTRIES * OID_BYTES);
  /** Deltas that are too large for memory, or whose base or result is. */
  readonly largeDeltas = new Set<number>();
  /** Raw ids of the bases of `REF_DELTA` entries, by entry. */
  readonly refBases = new Map<number, Uint8Array>();

  /** Bytes of the arrays. */
  get heldBytes(): number {
    return this.offsets.length * ENTRY_BYTES;
  }

  /** Adds an entry and returns its index. */
  add(type: number, offset: number, sizeBytes: number): number {
    const index = this.count++;
    // One more than the entries: the offset of the pack's end.
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

  /** Offset behind the entry. */
  end(index: number): number {
    return this.offsets[index + 1] as number;
  }

  kind(index: number): number {
    return this.kinds[index] as number;
  }

  isDelta(index: number): boolean {
    return (this.types[index] as number) > 4;
  }

  /** The raw id of an entry, as a view. */
  oid(index: number): Uint8Array {
    return this.oids.subarray(index * OID_BYTES, (index + 1) * OID_BYTES);
  }

  /**
   * The entry that starts at `offset`, `NO_ENTRY` if none does. Cost: a binary search.
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

  /** Makes room, but not for more than are expected, or for few more where more come. */
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
