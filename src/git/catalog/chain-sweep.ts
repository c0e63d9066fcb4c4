import { type Budget, UNLIMITED } from "../budget.ts";
import { type Codec, HOST_INFLATE_BYTES_MAX, HOST_INFLATE_BYTES_MIN } from "../codec.ts";
import { corrupt } from "../error.ts";
import { Inflater } from "../zlib/inflate.ts";
import { applyDelta, readDeltaHeader } from "../pack/delta.ts";
import { type EntryHeader, readEntryHeader } from "../pack/entry-header.ts";
import { INFLATED_BYTE_STEPS, inflateInPieces } from "../pack/entry-reader.ts";
import { resident } from "./block-pool.ts";
import { cutRuns, RunReader } from "./entry-runs.ts";
import type { ObjectEntry, PackCatalog } from "./pack-catalog.ts";
import type { Gauge } from "../store.ts";

/** Entries whose rows in tables are loaded together. */
const LOADED_TOGETHER = 1000;
/** Number of runs in flight: distant storage has a latency however little is read. */
const RUNS_AHEAD = 4;
/** Maximum size of the bases that wait for their deltas, in bytes. */
const LIVE_BYTES_MAX = 12 * 1024 * 1024;
/** Size of the bytes and contents that are yielded together, in bytes. */
const YIELDED_BYTES = 256 * 1024;

/** Steps for an entry, and to copy a byte of a result. */
const ENTRY_STEPS = 500;
const COPIED_BYTE_STEPS = 0.15;

/** An entry to be read. */
interface RequestedEntry {
  readonly entry: ObjectEntry;
  /** Whether the content of the object is requested, too. */
  readonly isResolved: boolean;
}

/** An entry that was read. */
interface Swept<Item extends RequestedEntry> {
  readonly item: Item;
  /** Its bytes, as a view. */
  readonly stored: Uint8Array;
  /**
   * The content if it is requested; undefined if the base comes after it in the pack, or if memory
   * does not suffice.
   */
  readonly content: Uint8Array | undefined;
}

interface SweepOptions {
  /** Inflates entries of usual size, if given; the result is the same. */
  readonly codec?: Codec;
  /** Receives the memory held by contents and by bytes that were read, in bytes. */
  readonly gauge?: Gauge;
  /**
   * Pauses the work, which counts in it. Its bound does not end the work: the entries and their
   * contents do.
   */
  readonly budget?: Budget;
}

/**
 * Reads entries of one pack in one pass, and with them those of the delta chains of the objects
 * whose contents are requested.
 *
 * @returns The entries in pack order, some at a time.
 */
export async function* sweepEntries<Item extends RequestedEntry>(
  catalog: PackCatalog,
  pack: number,
  requested: readonly Item[],
  options: SweepOptions,
): AsyncGenerator<readonly Swept<Item>[]> {
  const sweep = new ChainSweep(catalog, pack, requested, options);
  if (catalog.pack(pack).blocks) await sweep.loadEntries();
  await sweep.findChains();
  yield* sweep.run();
}

/** An entry to be read, and what is requested of it: undefined for one of a chain alone. */
interface Step<Item> {
  readonly start: number;
  readonly end: number;
  readonly entry: ObjectEntry;
  readonly item: Item | undefined;
}

class ChainSweep<Item extends RequestedEntry> {
  private readonly catalog: PackCatalog;
  private readonly pack: number;
  private readonly requested: readonly Item[];
  private readonly codec: Codec | undefined;
  private readonly gauge: Gauge;
  private readonly budget: Budget;
  /** The entries of the chains, where the pack's tables are read by block. */
  private entries: ReadonlyMap<number, ObjectEntry> | undefined;
  /** Number of pending deltas of each entry of the chains. */
  private readonly waiting = new Map<number, number>();
  /** The contents of entries with pending deltas. */
  private readonly live = new Map<number, Uint8Array>();
  private liveBytes = 0;
  private readonly inflater = new Inflater();

  constructor(
    catalog: PackCatalog,
    pack: number,
    requested: readonly Item[],
    { codec, gauge = () => {}, budget = UNLIMITED }: SweepOptions,
  ) {
    this.catalog = catalog;
    this.pack = pack;
    this.requested = requested;
    this.codec = codec;
    this.gauge = gauge;
    this.budget = budget;
  }

  private get targets(): number[] {
    return this.requested.flatMap(({ entry, isResolved }) =>
      isResolved ? [entry.location.position] : [],
    );
  }

  /** Loads what is known of the entries, where the pack's tables are read by block. */
  async loadEntries(): Promise<void> {
    const { catalog, pack } = this;
    const entries = new Map<number, ObjectEntry>();
    // Level by level, whose blocks are loaded side by side.
    for (let level = this.targets; level.length > 0;) {
      const bases: number[] = [];
      for (let at = 0; at < level.length; at += LOADED_TOGETHER) {
        const some = level.slice(at, at + LOADED_TOGETHER).map((position) => ({ pack, position }));
        await catalog.loadRows(some);
        for (const location of some) {
          await this.budget.pause(ENTRY_STEPS);
          const entry = await resident(() => catalog.entry(location));
          entries.set(location.position, entry);
          const base = entry.base?.position;
          if (base !== undefined && !entries.has(base)) bases.push(base);
        }
      }
      level = [...new Set(bases)].filter((position) => !entries.has(position));
    }
    this.entries = entries;
  }

  async findChains(): Promise<void> {
    for (const position of this.targets) {
      const pausing = this.budget.pause(ENTRY_STEPS);
      if (pausing) await pausing;
      for (let at = position; at >= 0 && !this.waiting.has(at); at = this.baseOf(at)) {
        this.waiting.set(at, 0);
      }
    }
    for (const position of this.waiting.keys()) {
      const base = this.baseOf(position);
      if (base >= 0) this.waiting.set(base, (this.waiting.get(base) ?? 0) + 1);
    }
  }

  private entryOf(position: number): ObjectEntry {
    return this.entries?.get(position) ?? this.catalog.entry({ pack: this.pack, position });
  }

  /** The position of an entry's base, -1 without one. */
  private baseOf(position: number): number {
    if (this.entries) return this.entryOf(position).base?.position ?? -1;
    return this.catalog.pack(this.pack).sidecar.bases[position] as number;
  }

  async *run(): AsyncGenerator<readonly Swept<Item>[]> {
    const { source } = this.catalog.pack(this.pack);
    const runs = cutRuns(await this.listSteps());
    const readers: RunReader[] = [];
    let swept: Swept<Item>[] = [];
    let sweptBytes = 0;
    try {
      for (const [at, { entries }] of runs.entries()) {
        for (const run of runs.slice(at + readers.length, at + RUNS_AHEAD)) {
          readers.push(new RunReader(source, run));
        }
        const [reader] = readers as [RunReader];
        const readBytes = readers.reduce((sum, { heldBytes }) => sum + heldBytes, 0);
        for (const { start, end, entry, item } of entries) {
          const pausing = this.budget.pause();
          if (pausing) await pausing;
          const stored = reader.view(start, end) ?? (await reader.read(start, end));
          const content = await this.resolve(entry, stored);
          const entryBytes = stored.length + (content?.length ?? 0);
          this.gauge(readBytes + this.liveBytes + sweptBytes + entryBytes);
          if (!item) continue;
          swept.push({ item, stored, content: item.isResolved ? content : undefined });
          sweptBytes += stored.length + (item.isResolved ? (content?.length ?? 0) : 0);
          if (sweptBytes < YIELDED_BYTES) continue;
          yield swept;
          swept = [];
          sweptBytes = 0;
        }
        await reader.close();
        readers.shift();
      }
      yield swept;
    } finally {
      await Promise.all(readers.map((reader) => reader.close()));
    }
  }

  /** The requested entries and those of chains, in pack order. */
  private async listSteps(): Promise<Step<Item>[]> {
    const steps: Step<Item>[] = [];
    for (const item of this.requested) {
      const { entry } = item;
      steps.push({ start: entry.start, end: entry.end, entry, item });
    }
    const listed = new Set(this.requested.map(({ entry }) => entry.location.position));
    for (const position of this.waiting.keys()) {
      if (listed.has(position)) continue;
      const entry = this.entryOf(position);
      // What can't be held is not read either.
      if (entry.sizeBytes > LIVE_BYTES_MAX) continue;
      steps.push({ start: entry.start, end: entry.end, entry, item: undefined });
    }
    await this.budget.pause(ENTRY_STEPS * steps.length);
    return steps.toSorted((a, b) => a.start - b.start);
  }

  /**
   * Returns the content of an entry of the chains; undefined if the content of its base is not
   * held, or if memory does not suffice.
   */
  private async resolve(entry: ObjectEntry, stored: Uint8Array): Promise<Uint8Array | undefined> {
    const { position } = entry.location;
    const deltas = this.waiting.get(position);
    if (deltas === undefined || entry.sizeBytes > LIVE_BYTES_MAX) return undefined;
    const base = entry.base && this.take(entry.base.position);
    if (entry.base && !base) return undefined;
    const header = readEntryHeader(stored, 0);
    if (!header) throw corrupt("pack: entry cut off");
    if (header.sizeBytes > LIVE_BYTES_MAX) return undefined;
    const inflated = await this.inflate(stored, header);
    const content = base ? this.apply(base, inflated, entry) : inflated;
    if (content.length !== entry.sizeBytes) throw corrupt("pack: entry differs from the sidecar");
    if (deltas > 0) this.hold(position, content);
    return content;
  }

  private async inflate(stored: Uint8Array, { next, sizeBytes }: EntryHeader): Promise<Uint8Array> {
    this.budget.consume(ENTRY_STEPS);
    const isUsual = sizeBytes >= HOST_INFLATE_BYTES_MIN && sizeBytes <= HOST_INFLATE_BYTES_MAX;
    if (this.codec && isUsual) {
      this.budget.consume(INFLATED_BYTE_STEPS * sizeBytes);
      return this.codec.inflate(stored.subarray(next), sizeBytes);
    }
    const inflated = new Uint8Array(sizeBytes);
    await inflateInPieces(this.inflater, stored, next, inflated, this.budget);
    return inflated;
  }

  private apply(base: Uint8Array, delta: Uint8Array, { sizeBytes }: ObjectEntry): Uint8Array {
    const header = readDeltaHeader(delta);
    if (header?.resultBytes !== sizeBytes) throw corrupt("delta: differs from the sidecar");
    const content = new Uint8Array(sizeBytes);
    this.budget.consume(COPIED_BYTE_STEPS * sizeBytes);
    applyDelta(base, delta, header, content);
    return content;
  }

  private hold(position: number, content: Uint8Array): void {
    this.live.set(position, content);
    this.liveBytes += content.length;
    // Deltas mostly follow their base: those of the one that has waited longest may come last.
    for (const [oldest, { length }] of this.live) {
      if (this.liveBytes <= LIVE_BYTES_MAX) return;
      this.live.delete(oldest);
      this.liveBytes -= length;
    }
  }

  /** The content of a base for one of its deltas; the last one releases it. */
  private take(position: number): Uint8Array | undefined {
    const left = (this.waiting.get(position) ?? 0) - 1;
    this.waiting.set(position, left);
    const content = this.live.get(position);
    if (content && left === 0) {
      this.live.delete(position);
      this.liveBytes -= content.length;
    }
    return content;
  }
}
