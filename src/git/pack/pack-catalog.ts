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
export interface Place {
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
  find(oid: Oid): Place | undefined {
    writeOid(oid, this.raw);
    return this.findRaw(this.raw, 0);
  }

  /** The same for the raw id at `oid[offset..]`. */
  findRaw(oid: Uint8Array, offset: number, packsMax = this.packs.length): Place | undefined {
    for (let pack = 0; pack < packsMax; pack++) {
      const position = this.packs[pack]?.idx.find(oid, offset) ?? -1;
      if (position >= 0) return { pack, position };
    }
    return undefined;
  }

  /** The place from which an object is taken: in the oldest pack that holds it. */
  home(place: Place): Place {
    if (place.pack === 0) return place;
    const { oids } = this.pack(place.pack).idx;
    return this.findRaw(oids, place.position * OID_BYTES, place.pack) ?? place;
  }

  oid(place: Place): Oid {
    return this.pack(place.pack).idx.oid(place.position);
  }

  /** Kind of an object, 1 to 4. */
  kind(place: Place): number {
    return this.pack(place.pack).sidecar.kinds[place.position] as number;
  }

  /** Size of an object in bytes, inflated. */
  sizeBytes(place: Place): number {
    return this.pack(place.pack).sidecar.sizes[place.position] as number;
  }

  /** The base of an object that is stored as a delta, in the same pack. */
  base(place: Place): Place | undefined {
    const position = this.pack(place.pack).sidecar.bases[place.position] as number;
    return position < 0 ? undefined : { pack: place.pack, position };
  }

  /** Where the entry starts and ends in its pack, in bytes. */
  range(place: Place): { start: number; end: number } {
    const { idx } = this.pack(place.pack);
    const start = idx.offset(place.position);
    const offsets = this.offsetsOf(place.pack);
    let low = 0;
    let high = offsets.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((offsets[middle] as number) <= start) low = middle + 1;
      else high = middle;
    }
    // The last entry ends where the pack's checksum begins.
    const { source } = this.pack(place.pack);
    return { start, end: offsets[low] ?? source.sizeBytes - OID_BYTES };
  }

  private offsetsOf(number: number): Float64Array {
    const known = this.offsets[number] ?? this.pack(number).idx.sortedOffsets;
    this.offsets[number] = known;
    return known;
  }
}
