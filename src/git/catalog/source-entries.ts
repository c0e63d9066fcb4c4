import type { Budget } from "../budget.ts";
import { resident } from "./block-pool.ts";
import type { LocationSet } from "./location-set.ts";
import type { ObjectEntry, PackCatalog } from "./pack-catalog.ts";
import type { VerbatimPart } from "./verbatim-part.ts";

/** Entries whose blocks are loaded together. */
const LOADED_TOGETHER = 1000;
/** Steps to list an entry, to sort it, and to read its row in a table. */
const POSITION_STEPS = 5;
const SORTED_STEPS = 30;
const ROW_STEPS = 100;
/** Share of a pack's objects up to which starts are kept in a map. */
const SPARSE_SHARE = 1 / 16;

/** The entries of a pack that are to be written, in pack order. */
export class SourceEntries {
  /** The position of each entry's object in the index. */
  readonly positions: Uint32Array;
  private readonly catalog: PackCatalog;
  private readonly pack: number;
  /** The rows of the entries, if the pack's tables are read by block. */
  private readonly rows: EntryRows | undefined;

  private constructor(
    catalog: PackCatalog,
    pack: number,
    positions: Uint32Array,
    rows?: EntryRows,
  ) {
    this.catalog = catalog;
    this.pack = pack;
    this.positions = positions;
    this.rows = rows;
  }

  /**
   * Cost: none; if tables are read by block, each block with an object to pack once.
   *
   * @param before The entries of the pack that are not listed.
   */
  static async find(
    catalog: PackCatalog,
    pack: number,
    toPack: LocationSet,
    budget: Budget,
    before?: VerbatimPart,
  ): Promise<SourceEntries> {
    const all = Uint32Array.from(toPack.positions(pack));
    const positions = before ? all.filter((position) => !before.holds(position)) : all;
    await budget.pause(POSITION_STEPS * positions.length);
    const opened = catalog.pack(pack);
    if (!opened.blocks) {
      const { idx } = opened;
      const byOffset = positions.toSorted((a, b) => idx.offset(a) - idx.offset(b));
      await budget.pause(SORTED_STEPS * positions.length);
      return new SourceEntries(catalog, pack, byOffset);
    }
    // Positions are in pack order, and so are their rows: each block is loaded once.
    const found = new EntryRows(positions.length);
    for (let at = 0; at < positions.length; at += LOADED_TOGETHER) {
      const some = Array.from(positions.subarray(at, at + LOADED_TOGETHER), (position) => ({
        pack,
        position,
      }));
      await catalog.loadRows(some);
      for (const [index, location] of some.entries()) {
        const pausing = budget.pause(ROW_STEPS);
        if (pausing) await pausing;
        found.set(at + index, await resident(() => catalog.entry(location)));
      }
    }
    return new SourceEntries(catalog, pack, positions, found);
  }

  /** Memory held in bytes. */
  get heldBytes(): number {
    return this.positions.byteLength + (this.rows?.heldBytes ?? 0);
  }

  at(index: number): ObjectEntry {
    const location = { pack: this.pack, position: this.positions[index] as number };
    return this.rows ? this.rows.get(index, location) : this.catalog.entry(location);
  }
}

/** The columns of entries: 28 bytes each. */
class EntryRows {
  private readonly starts: Float64Array;
  private readonly ends: Float64Array;
  private readonly sizes: Float64Array;
  private readonly bases: Int32Array;

  constructor(count: number) {
    this.starts = new Float64Array(count);
    this.ends = new Float64Array(count);
    this.sizes = new Float64Array(count);
    this.bases = new Int32Array(count);
  }

  get heldBytes(): number {
    return 3 * this.starts.byteLength + this.bases.byteLength;
  }

  set(at: number, { start, end, sizeBytes, base }: ObjectEntry): void {
    this.starts[at] = start;
    this.ends[at] = end;
    this.sizes[at] = sizeBytes;
    this.bases[at] = base?.position ?? -1;
  }

  get(at: number, location: ObjectEntry["location"]): ObjectEntry {
    const position = this.bases[at] as number;
    return {
      location,
      base: position < 0 ? undefined : { pack: location.pack, position },
      start: this.starts[at] as number,
      end: this.ends[at] as number,
      sizeBytes: this.sizes[at] as number,
    };
  }
}

/** A number for some objects of a pack, 0 for the others: an array, or a map where they are few. */
export class PositionNumbers {
  private readonly array: Float64Array | undefined;
  private readonly map = new Map<number, number>();

  /**
   * @param capacity Objects of the pack.
   * @param count    Objects that get a number, at most.
   */
  constructor(capacity: number, count: number) {
    if (count > capacity * SPARSE_SHARE) this.array = new Float64Array(capacity);
  }

  /** Memory held in bytes. */
  get heldBytes(): number {
    return this.array?.byteLength ?? this.map.size * MAP_ENTRY_BYTES;
  }

  get(position: number): number {
    return (this.array ? this.array[position] : this.map.get(position)) ?? 0;
  }

  set(position: number, number: number): void {
    if (this.array) this.array[position] = number;
    else this.map.set(position, number);
  }
}

/** Approximate bytes of a number in a map. */
const MAP_ENTRY_BYTES = 40;
