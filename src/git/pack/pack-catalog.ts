import { type Oid, OID_BYTES, writeOid } from "../oid.ts";
import type { Sidecar } from "../sidecar/sidecar-file.ts";
import type { ByteSource } from "../store.ts";
import type { IdxFile } from "./idx-file.ts";

/** A pack that is open for reading: its index and sidecar in memory, its bytes by ranges. */
export interface OpenPack {
  readonly idx: IdxFile;
  readonly sidecar: Sidecar;
  readonly source: ByteSource;
}

/** An object in a pack, by its position in the index. */
export interface ObjectLocation {
  /** Which pack, by its number in the catalog. */
  readonly pack: number;
  readonly position: number;
}

/**
 * The packs of a repository, oldest first.
 *
 * SECURITY: an object that lies in several packs is always taken from the oldest. So a delta that is
 * reused points to an older pack or backwards in its own, and no mixture of packs, however they
 * were pushed, makes deltas refer to each other in a circle.
 */
export class PackCatalog {
  readonly packs: readonly OpenPack[];
  /** Offsets of the entries of each pack that were asked for, ascending. */
  private readonly offsets: (Float64Array | undefined)[] = [];
  private readonly raw = new Uint8Array(OID_BYTES);

  constructor(packs: readonly OpenPack[]) {
    this.packs = packs;
  }

  /** Bytes of the offsets that were asked for; files are not counted. */
  get heldBytes(): number {
    return this.offsets.reduce((sum, offsets) => sum + (offsets?.byteLength ?? 0), 0);
  }

  pack(number: number): OpenPack {
    const pack = this.packs[number];
    if (!pack) throw new Error(`no pack ${number}`);
    return pack;
  }

  /** Where an object is, undefined if it is in no pack. Cost: a binary search a pack. */
  find(oid: Oid): ObjectLocation | undefined {
    writeOid(oid, this.raw);
    return this.findRaw(this.raw, 0);
  }

  /** The same for the raw id at `oid[offset..]`. */
  findRaw(oid: Uint8Array, offset: number, packsMax = this.packs.length): ObjectLocation | undefined {
    for (let pack = 0; pack < packsMax; pack++) {
      const position = this.packs[pack]?.idx.find(oid, offset) ?? -1;
      if (position >= 0) return { pack, position };
    }
    return undefined;
  }

  /** The place from which an object is taken: in the oldest pack that holds it. */
  home(location: ObjectLocation): ObjectLocation {
    if (location.pack === 0) return location;
    const { oids } = this.pack(location.pack).idx;
    return this.findRaw(oids, location.position * OID_BYTES, location.pack) ?? location;
  }

  oid(location: ObjectLocation): Oid {
    return this.pack(location.pack).idx.oid(location.position);
  }

  /** Kind of an object, 1 to 4. */
  kind(location: ObjectLocation): number {
    return this.pack(location.pack).sidecar.kinds[location.position] as number;
  }

  /** Size of an object in bytes, inflated. */
  sizeBytes(location: ObjectLocation): number {
    return this.pack(location.pack).sidecar.sizes[location.position] as number;
  }

  /** The base of an object that is stored as a delta, in the same pack. */
  base(location: ObjectLocation): ObjectLocation | undefined {
    const position = this.pack(location.pack).sidecar.bases[location.position] as number;
    return position < 0 ? undefined : { pack: location.pack, position };
  }

  /** Where the entry starts and ends in its pack, in bytes. */
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
