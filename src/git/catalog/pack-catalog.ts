import { type Oid, OID_BYTES, writeOid } from "../oid.ts";
import type { Sidecar } from "../sidecar/sidecar-file.ts";
import type { ByteSource } from "../store.ts";
import type { IdxFile } from "../pack/idx-file.ts";

/** A pack opened for reading, with index and sidecar in memory. Its bytes are read by range. */
export interface OpenPack {
  readonly idx: IdxFile;
  readonly sidecar: Sidecar;
  readonly source: ByteSource;
}

/** The location of an object: a pack, and a position in its index. */
export interface ObjectLocation {
  /** Number of the pack in the catalog. */
  readonly pack: number;
  readonly position: number;
}

/**
 * The packs of a repository, oldest first.
 *
 * SECURITY: an object in several packs is always read from the oldest. So a reused delta refers to
 * an older pack or backwards in its own pack, and no combination of pushed packs can make deltas
 * refer to each other in a cycle.
 */
export class PackCatalog {
  readonly packs: readonly OpenPack[];
  /** Sorted entry offsets of each pack, computed on first use. */
  private readonly offsets: (Float64Array | undefined)[] = [];
  private readonly raw = new Uint8Array(OID_BYTES);

  constructor(packs: readonly OpenPack[]) {
    this.packs = packs;
  }

  /** Size of the computed offsets in bytes; index and sidecar files are not counted. */
  get heldBytes(): number {
    return this.offsets.reduce((sum, offsets) => sum + (offsets?.byteLength ?? 0), 0);
  }

  pack(number: number): OpenPack {
    const pack = this.packs[number];
    if (!pack) throw new Error(`no pack ${number}`);
    return pack;
  }

  /**
   * Returns the location of an object, undefined if no pack contains it. Cost: one binary search
   * per pack.
   */
  find(oid: Oid): ObjectLocation | undefined {
    writeOid(oid, this.raw);
    return this.findRaw(this.raw, 0);
  }

  /**
   * Returns the location of the object with the raw id at `oid[offset..]`, in the first `packsMax`
   * packs.
   */
  findRaw(
    oid: Uint8Array,
    offset: number,
    packsMax = this.packs.length,
  ): ObjectLocation | undefined {
    for (let pack = 0; pack < packsMax; pack++) {
      const position = this.packs[pack]?.idx.find(oid, offset) ?? -1;
      if (position >= 0) return { pack, position };
    }
    return undefined;
  }

  /** Returns the location in the oldest pack that contains the object. */
  home(location: ObjectLocation): ObjectLocation {
    if (location.pack === 0) return location;
    const { oids } = this.pack(location.pack).idx;
    return this.findRaw(oids, location.position * OID_BYTES, location.pack) ?? location;
  }

  oid(location: ObjectLocation): Oid {
    return this.pack(location.pack).idx.oid(location.position);
  }

  /** Returns the kind of an object, 1 to 4. */
  kind(location: ObjectLocation): number {
    return this.pack(location.pack).sidecar.kinds[location.position] as number;
  }

  /** Returns the inflated size of an object in bytes. */
  sizeBytes(location: ObjectLocation): number {
    return this.pack(location.pack).sidecar.sizes[location.position] as number;
  }

  /**
   * Returns the base of an object stored as a delta, in the same pack; undefined for an object
   * stored whole.
   */
  base(location: ObjectLocation): ObjectLocation | undefined {
    const position = this.pack(location.pack).sidecar.bases[location.position] as number;
    return position < 0 ? undefined : { pack: location.pack, position };
  }

  /** Returns the range of the entry in its pack, in bytes. */
  range(location: ObjectLocation): { start: number; end: number } {
    const { idx } = this.pack(location.pack);
    const start = idx.offset(location.position);
    const offsets = this.offsetsOf(location.pack);
    let low = 0;
    let high = offsets.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((offsets[middle] as number) <= start) low = middle + 1;
      else high = middle;
    }
    // The last entry ends where the pack's checksum begins.
    const { source } = this.pack(location.pack);
    return { start, end: offsets[low] ?? source.sizeBytes - OID_BYTES };
  }

  private offsetsOf(number: number): Float64Array {
    const known = this.offsets[number] ?? this.pack(number).idx.sortedOffsets;
    this.offsets[number] = known;
    return known;
  }
}
