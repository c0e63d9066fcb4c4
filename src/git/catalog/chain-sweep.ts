import { type Budget, UNLIMITED } from "../budget.ts";
import { corrupt } from "../error.ts";
import { Inflater } from "../zlib/inflate.ts";
import { applyDelta, readDeltaHeader } from "../pack/delta.ts";
import { readEntryHeader } from "../pack/entry-header.ts";
import { inflateInPieces } from "../pack/entry-reader.ts";
import { resident } from "./block-pool.ts";
import type { ObjectEntry, PackCatalog } from "./pack-catalog.ts";
import type { Gauge } from "../store.ts";

/** Target size of one read of stored entries, in bytes. */
const READ_BYTES = 1024 * 1024;
/** Largest gap of unneeded bytes that is read to join two reads, in bytes. */
const GAP_BYTES_MAX = 64 * 1024;
/** Entries whose rows in tables are loaded together. */
const LOADED_TOGETHER = 1000;
/** Number of reads in flight: distant storage has a latency however little is read. */
const READS_AHEAD = 4;
/**
 * Maximum size of contents held at once, in bytes: results, and bases that wait for their deltas.
 */
const HELD_BYTES_MAX = 12 * 1024 * 1024;

/** Steps for an entry, and to copy a byte of a result. */
const ENTRY_STEPS = 500;
const COPIED_BYTE_STEPS = 0.15;

/**
 * Reads objects of one pack in one pass over the entries of their delta chains.
 *
 * Objects whose base comes after them in the pack, and objects that would exceed the memory limit,
 * are left out: the caller reads those one by one.
 *
 * @param budget Pauses the work, which counts in it. Its bound does not end the work: the size of
 *   the contents does.
 * @returns Contents by position in the index.
 */
export async function sweepChains(
  catalog: PackCatalog,
  pack: number,
  targets: readonly number[],
  gauge: Gauge = () => {},
  budget: Budget = UNLIMITED,
): Promise<Map<number, Uint8Array>> {
  const sweep = new ChainSweep(catalog, pack, targets, budget);
  if (catalog.pack(pack).blocks) await sweep.loadEntries();
  await sweep.findChains();
  return sweep.run(gauge);
}

interface Entry {
  readonly position: number;
  readonly start: number;
  readonly end: number;
  readonly sizeBytes: number;
}

/** Entries read together, with the gaps between them. */
interface Run {
  readonly start: number;
  readonly end: number;
  readonly entries: readonly Entry[];
}

/** @param entries Sorted by offset. */
function cutRuns(entries: readonly Entry[]): Run[] {
  const runs: Run[] = [];
  for (let at = 0; at < entries.length;) {
    const { start, end: firstEnd } = entries[at] as Entry;
    let end = firstEnd;
    let stop = at + 1;
    for (; stop < entries.length; stop++) {
      const next = entries[stop] as Entry;
      if (next.start - end > GAP_BYTES_MAX || next.end - start > READ_BYTES) break;
      end = next.end;
    }
    runs.push({ start, end, entries: entries.slice(at, stop) });
    at = stop;
  }
  return runs;
}

class ChainSweep {
  private readonly catalog: PackCatalog;
  private readonly pack: number;
  private readonly targets: ReadonlySet<number>;
  /** The entries of the chains, where the pack's tables are read by block. */
  private entries: ReadonlyMap<number, ObjectEntry> | undefined;
  /** Number of pending deltas of each entry of the chains. */
  private readonly waiting = new Map<number, number>();
  private readonly live = new Map<number, Uint8Array>();
  private heldBytes = 0;
  private readonly inflater = new Inflater();
  private readonly budget: Budget;

  constructor(catalog: PackCatalog, pack: number, targets: readonly number[], budget: Budget) {
    this.budget = budget;
    this.catalog = catalog;
    this.pack = pack;
    this.targets = new Set(targets);
  }

  /** Loads what is known of the entries, where the pack's tables are read by block. */
  async loadEntries(): Promise<void> {
    const { catalog, pack } = this;
    const entries = new Map<number, ObjectEntry>();
    // Level by level, whose blocks are loaded side by side.
    for (let level = [...this.targets]; level.length > 0;) {
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
      await this.budget.pause(ENTRY_STEPS);
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

  async run(gauge: Gauge): Promise<Map<number, Uint8Array>> {
    const { catalog, pack } = this;
    const { source } = catalog.pack(pack);
    const entries = Array.from(this.waiting.keys(), (position) => {
      const { start, end, sizeBytes } = this.entryOf(position);
      return { position, start, end, sizeBytes };
    }).toSorted((a, b) => a.start - b.start);
    await this.budget.pause(ENTRY_STEPS * entries.length);
    const found = new Map<number, Uint8Array>();
    const runs = cutRuns(entries);
    const reading: Promise<Uint8Array>[] = [];
    for (let next = 0, at = 0; at < runs.length; at++) {
      for (; next < runs.length && next < at + READS_AHEAD; next++) {
        const { start, end } = runs[next] as Run;
        const read = source.read(start, end);
        // The read is awaited later, or never if this function ends early, so the rejection needs a
        // handler now.
        read.catch(() => {});
        reading.push(read);
      }
      const { start, entries: inRun } = runs[at] as Run;
      const run = (await reading.shift()) as Uint8Array;
      const readBytes = runs.slice(at, next).reduce((sum, each) => sum + each.end - each.start, 0);
      for (const entry of inRun) {
        const stored = run.subarray(entry.start - start, entry.end - start);
        await this.budget.pause();
        const content = await this.resolve(entry.position, stored);
        if (!content) continue;
        if (content.length !== entry.sizeBytes) {
          throw corrupt("pack: entry differs from the sidecar");
        }
        if ((this.waiting.get(entry.position) ?? 0) > 0) {
          this.live.set(entry.position, content);
          this.heldBytes += content.length;
        }
        if (this.targets.has(entry.position)) {
          found.set(entry.position, content);
          this.heldBytes += content.length;
        }
        gauge(this.heldBytes + readBytes);
        if (this.heldBytes > HELD_BYTES_MAX) return found;
      }
    }
    return found;
  }

  /**
   * Returns the content of an entry; undefined if the content of its base is not held, or if memory
   * does not suffice.
   */
  private async resolve(position: number, stored: Uint8Array): Promise<Uint8Array | undefined> {
    const base = this.baseOf(position);
    const baseContent = this.live.get(base);
    if (base >= 0 && !baseContent) return undefined;
    const header = readEntryHeader(stored, 0);
    if (!header) throw corrupt("pack: entry cut off");
    if (header.sizeBytes > HELD_BYTES_MAX) return undefined;
    const inflated = new Uint8Array(header.sizeBytes);
    this.budget.consume(ENTRY_STEPS);
    await inflateInPieces(this.inflater, stored, header.next, inflated, this.budget);
    if (!baseContent) return inflated;
    const deltaHeader = readDeltaHeader(inflated);
    if (!deltaHeader) throw corrupt("delta: cut off");
    if (deltaHeader.resultBytes > HELD_BYTES_MAX) return undefined;
    const content = new Uint8Array(deltaHeader.resultBytes);
    this.budget.consume(COPIED_BYTE_STEPS * content.length);
    applyDelta(baseContent, inflated, deltaHeader, content);
    this.release(base, baseContent);
    return content;
  }

  private release(base: number, content: Uint8Array): void {
    const left = (this.waiting.get(base) ?? 0) - 1;
    this.waiting.set(base, left);
    if (left > 0) return;
    this.live.delete(base);
    this.heldBytes -= content.length;
  }
}
