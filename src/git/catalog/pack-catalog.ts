import { COMMIT } from "../object/kind.ts";
import { type Oid, OID_BYTES, oidBytes, writeOid } from "../oid.ts";
import type { HistoryTables, Sidecar } from "../sidecar/sidecar-file.ts";
import type { ByteSource } from "../store.ts";
import type { IdxFile } from "../pack/idx-file.ts";
import { BLOCKS_MAX, resident, TablesMissing } from "./block-pool.ts";
import type { ObjectBlocks } from "./object-blocks.ts";

/** A pack opened for reading, with index and sidecar in memory. Its bytes are read by range. */
export interface OpenPack {
  readonly idx: IdxFile;
  readonly sidecar: Sidecar;
  readonly source: ByteSource;
  /**
   * The tables of a pack that are read by block: `idx` and `sidecar` throw `TablesMissing` then.
   */
  readonly blocks?: ObjectBlocks;
}

/** A pack whose tables are read by block. */
export class BlockPack implements OpenPack {
  readonly blocks: ObjectBlocks;
  readonly source: ByteSource;

  constructor(blocks: ObjectBlocks, source: ByteSource) {
    this.blocks = blocks;
    this.source = source;
  }

  get idx(): IdxFile {
    throw new TablesMissing();
  }

  get sidecar(): Sidecar {
    throw new TablesMissing();
  }
}

/** The number of objects of a pack. */
export const countObjects = (pack: OpenPack): number => pack.blocks?.count ?? pack.idx.count;

/** The tables of a pack that have no element for each object. */
export const historyOf = (pack: OpenPack): HistoryTables =>
  pack.blocks?.index.history ?? pack.sidecar;

/**
 * The location of an object: a pack, and a position in its index; in pack order where its tables
 * are read by block.
 */
export interface ObjectLocation {
  /** Number of the pack in the catalog. */
  readonly pack: number;
  readonly position: number;
}

/**
 * An object's entry in its pack: the range in bytes, its base if it is a delta, and the size of the
 * object.
 */
export interface ObjectEntry {
  readonly location: ObjectLocation;
  readonly base: ObjectLocation | undefined;
  readonly start: number;
  readonly end: number;
  readonly sizeBytes: number;
}

/** Blocks that are loaded side by side, ahead of the work that needs them. */
const LOADED_MAX = Math.floor(BLOCKS_MAX / 2);

/**
 * The packs of a repository, oldest first.
 *
 * SECURITY: an object in several packs is always read from the oldest. So a reused delta refers to
 * an older pack or backwards in its own pack, and no combination of pushed packs can make deltas
 * refer to each other in a cycle.
 */
export class PackCatalog {
  readonly packs: readonly OpenPack[];
  /**
   * Whether tables of a pack are read by block. Then what looks at objects throws `BlockMissing`
   * where a block is not in memory: see `resident`. Commits are found without a block.
   */
  readonly isByBlock: boolean;
  /** Sorted entry offsets of each pack, computed on first use. */
  private readonly offsets: (Float64Array | undefined)[] = [];
  private readonly raw = new Uint8Array(OID_BYTES);

  constructor(packs: readonly OpenPack[]) {
    this.packs = packs;
    this.isByBlock = packs.some(({ blocks }) => blocks !== undefined);
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

  /** Finds an object with its size in bytes, with the blocks that this needs. */
  findSized(oid: Oid): Promise<{ location: ObjectLocation; sizeBytes: number } | undefined> {
    return resident(() => {
      const location = this.find(oid);
      return location && { location, sizeBytes: this.sizeBytes(location) };
    });
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
    if (this.isByBlock) {
      const pack = this.findCommitPack(oid, offset, packsMax);
      if (pack !== undefined) return { pack, position: this.findCommitIn(pack, oid, offset) };
    }
    for (let pack = 0; pack < packsMax; pack++) {
      const position = this.findIn(pack, oid, offset);
      if (position >= 0) return { pack, position };
    }
    return undefined;
  }

  /**
   * Returns the position of a commit in a pack, -1 if the pack does not contain it, or only as the
   * base of a delta. Needs no block. In a pack whose tables are in memory any object is found.
   */
  findCommitIn(pack: number, oid: Uint8Array, offset: number): number {
    const { blocks } = this.pack(pack);
    if (!blocks) return this.findIn(pack, oid, offset);
    const row = blocks.index.findCommit(oid, offset);
    return row < 0 ? -1 : (blocks.index.history.commits[row] as number);
  }

  /**
   * The oldest of the first `packsMax` packs that contains an object, if that is a commit. Needs no
   * block.
   */
  private findCommitPack(oid: Uint8Array, offset: number, packsMax: number): number | undefined {
    for (let pack = 0; pack < packsMax; pack++) {
      const position = this.findCommitIn(pack, oid, offset);
      if (position >= 0) return this.kindOfFound(pack, position) === COMMIT ? pack : undefined;
    }
    return undefined;
  }

  /** The kind of what `findCommitIn` has found. */
  private kindOfFound(pack: number, position: number): number {
    return this.pack(pack).blocks ? COMMIT : this.kind({ pack, position });
  }

  /** Returns the position of an object in a pack, -1 if the pack does not contain it. */
  findIn(pack: number, oid: Uint8Array, offset: number): number {
    const found = this.pack(pack);
    return (found.blocks ?? found.idx).find(oid, offset);
  }

  /** Returns the location in the oldest pack that contains the object. */
  home(location: ObjectLocation): ObjectLocation {
    if (location.pack === 0) return location;
    const { bytes, offset } = this.rawOid(location);
    return this.findRaw(bytes, offset, location.pack) ?? location;
  }

  /**
   * Returns the location in the oldest of the packs that contain the object, without those whose
   * tables are read by block: it costs no block for an object of another pack.
   *
   * As with `home`, the base of a delta is never in a newer pack.
   */
  tableHome(location: ObjectLocation): ObjectLocation {
    if (!this.isByBlock) return this.home(location);
    if (this.pack(location.pack).blocks) return location;
    const { bytes, offset } = this.rawOid(location);
    for (let pack = 0; pack < location.pack; pack++) {
      if (this.pack(pack).blocks) continue;
      const position = this.findIn(pack, bytes, offset);
      if (position >= 0) return { pack, position };
    }
    return location;
  }

  oid(location: ObjectLocation): Oid {
    const pack = this.pack(location.pack);
    return (pack.blocks ?? pack.idx).oid(location.position);
  }

  /** Returns the raw id of an object, within the bytes of a table. */
  rawOid({ pack, position }: ObjectLocation): { bytes: Uint8Array; offset: number } {
    const found = this.pack(pack);
    if (found.blocks) return { bytes: found.blocks.rawOid(position), offset: 0 };
    return { bytes: found.idx.oids, offset: position * OID_BYTES };
  }

  /** Returns the kind of an object, 1 to 4. */
  kind({ pack, position }: ObjectLocation): number {
    const found = this.pack(pack);
    return found.blocks?.kind(position) ?? (found.sidecar.kinds[position] as number);
  }

  /** Returns the inflated size of an object in bytes. */
  sizeBytes({ pack, position }: ObjectLocation): number {
    const found = this.pack(pack);
    return found.blocks?.sizeBytes(position) ?? (found.sidecar.sizes[position] as number);
  }

  /**
   * Returns the base of an object stored as a delta, in the same pack; undefined for an object
   * stored whole.
   */
  base(location: ObjectLocation): ObjectLocation | undefined {
    const pack = this.pack(location.pack);
    const position =
      pack.blocks?.base(location.position) ?? pack.sidecar.bases[location.position] ?? -1;
    return position < 0 ? undefined : { pack: location.pack, position };
  }

  /** Returns the range of the entry in its pack, in bytes. */
  range(location: ObjectLocation): { start: number; end: number } {
    const pack = this.pack(location.pack);
    if (pack.blocks) return pack.blocks.range(location.position);
    const start = pack.idx.offset(location.position);
    const offsets = this.offsetsOf(location.pack);
    let low = 0;
    let high = offsets.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((offsets[middle] as number) <= start) low = middle + 1;
      else high = middle;
    }
    // The last entry ends where the pack's checksum begins.
    return { start, end: offsets[low] ?? pack.source.sizeBytes - OID_BYTES };
  }

  /**
   * Loads the blocks in which objects are looked up by id, side by side. Ids whose blocks are more
   * than a part of what is held are left to `resident`.
   */
  async loadOids(oids: Iterable<Oid | Uint8Array>): Promise<void> {
    if (!this.isByBlock) return;
    const raw = Array.from(oids, (oid) => (typeof oid === "string" ? oidBytes(oid) : oid));
    await this.load((blocks) => blocks.blocksOfOids(raw));
  }

  /** Finds objects by their raw ids, with the blocks that this needs. */
  async findAll(oids: readonly Uint8Array[]): Promise<(ObjectLocation | undefined)[]> {
    const found: (ObjectLocation | undefined)[] = [];
    for (let at = 0; at < oids.length; at += LOADED_MAX) {
      const some = oids.slice(at, at + LOADED_MAX);
      await this.loadOids(some);
      for (const oid of some) found.push(await resident(() => this.findRaw(oid, 0)));
    }
    return found;
  }

  /** Loads the blocks with the rows of objects, side by side, within the bound of `loadOids`. */
  async loadRows(locations: readonly ObjectLocation[]): Promise<void> {
    if (!this.isByBlock) return;
    await this.load((blocks, number) =>
      blocks.blocksOfPositions(
        locations.flatMap(({ pack, position }) => (pack === number ? [position] : [])),
      ),
    );
  }

  /**
   * Loads the blocks with the lists of what commits introduce, within the bound of `loadOids`.
   *
   * @param commits Rows of commits in the tables of history, by pack.
   */
  async loadLists(commits: ReadonlyMap<number, readonly number[]>): Promise<void> {
    await this.load((blocks, pack) => blocks.blocksOfLists(commits.get(pack) ?? []));
  }

  private async load(
    find: (blocks: ObjectBlocks, pack: number) => ReadonlySet<number>,
  ): Promise<void> {
    let left = LOADED_MAX;
    const loading = this.packs.flatMap(({ blocks }, pack) => {
      const requested = blocks && left > 0 ? [...find(blocks, pack)].slice(0, left) : [];
      left -= requested.length;
      return blocks && requested.length > 0 ? [blocks.load(requested)] : [];
    });
    await Promise.all(loading);
  }

  /** Returns what reading an object needs. */
  entry(location: ObjectLocation): ObjectEntry {
    const base = this.base(location);
    const { start, end } = this.range(location);
    return { location, base, start, end, sizeBytes: this.sizeBytes(location) };
  }

  private offsetsOf(number: number): Float64Array {
    const known = this.offsets[number] ?? this.pack(number).idx.sortedOffsets;
    this.offsets[number] = known;
    return known;
  }
}
