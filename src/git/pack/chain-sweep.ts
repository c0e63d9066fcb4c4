import { corrupt } from "../error.ts";
import { Inflater } from "../zlib/inflate.ts";
import { applyDelta, readDeltaHeader } from "./delta.ts";
import { readEntryHeader } from "./entry-header.ts";
import { inflateWhole } from "./entry-reader.ts";
import type { PackCatalog } from "./pack-catalog.ts";
import type { Gauge } from "../store.ts";

/** Stored entries are read in runs of about this size, in bytes. */
const READ_BYTES = 1024 * 1024;
/** Bytes that are not wanted and read all the same, to save a read. */
const GAP_BYTES_MAX = 64 * 1024;
/** Runs that are read at once: what is far away takes its time, however little it is. */
const READS_AHEAD = 4;
/** Contents held at once, in bytes: those that are asked for and those that wait for their deltas. */
const HELD_BYTES_MAX = 12 * 1024 * 1024;

/**
 * The contents of objects of one pack by their positions, made in one pass over what their chains of
 * deltas are made of.
 *
 * Objects whose bases lie behind them, and those that would take too much memory, are left out:
 * they are to be read one by one.
 */
export async function sweepChains(
  catalog: PackCatalog,
  pack: number,
  wanted: readonly number[],
  gauge: Gauge = () => {},
): Promise<Map<number, Uint8Array>> {
  const sweep = new ChainSweep(catalog, pack, wanted);
  return sweep.run(gauge);
}

interface Entry {
  readonly position: number;
  readonly start: number;
  readonly end: number;
}

/** Entries that are read at once, with what lies between them. */
interface Run {
  readonly start: number;
  readonly end: number;
  readonly entries: readonly Entry[];
}

/** @param entries In the order of their offsets. */
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
  private readonly wanted: ReadonlySet<number>;
  /** For each entry of the chains, how many of them are deltas of it. */
  private readonly waiting = new Map<number, number>();
  private readonly live = new Map<number, Uint8Array>();
  private heldBytes = 0;
  private readonly inflater = new Inflater();

  constructor(catalog: PackCatalog, pack: number, wanted: readonly number[]) {
    this.catalog = catalog;
    this.pack = pack;
    this.wanted = new Set(wanted);
    const { bases } = catalog.pack(pack).sidecar;
    for (const position of wanted) {
      for (let at = position; at >= 0 && !this.waiting.has(at); at = bases[at] as number) {
        this.waiting.set(at, 0);
      }
    }
    for (const position of this.waiting.keys()) {
      const base = bases[position] as number;
      if (base >= 0) this.waiting.set(base, (this.waiting.get(base) ?? 0) + 1);
    }
  }

  async run(gauge: Gauge): Promise<Map<number, Uint8Array>> {
    const { catalog, pack } = this;
    const { source, sidecar } = catalog.pack(pack);
    const entries = Array.from(this.waiting.keys(), (position) => ({
      position,
      ...catalog.range({ pack, position }),
    })).toSorted((a, b) => a.start - b.start);
    const found = new Map<number, Uint8Array>();
    const runs = cutRuns(entries);
    const reading: Promise<Uint8Array>[] = [];
    for (let next = 0, at = 0; at < runs.length; at++) {
      for (; next < runs.length && next < at + READS_AHEAD; next++) {
        const { start, end } = runs[next] as Run;
        const read = source.read(start, end);
        // Awaited in its turn; nobody looks before that, or ever where this ends early.
        read.catch(() => {});
        reading.push(read);
      }
      const { start, entries: inRun } = runs[at] as Run;
      const run = (await reading.shift()) as Uint8Array;
      const readBytes = runs.slice(at, next).reduce((sum, each) => sum + each.end - each.start, 0);
      for (const entry of inRun) {
        const stored = run.subarray(entry.start - start, entry.end - start);
        const content = this.resolve(entry.position, stored);
        if (!content) continue;
        if (content.length !== sidecar.sizes[entry.position]) {
          throw corrupt("pack: entry is not what the sidecar says");
        }
        if ((this.waiting.get(entry.position) ?? 0) > 0) {
          this.live.set(entry.position, content);
          this.heldBytes += content.length;
        }
        if (this.wanted.has(entry.position)) {
          found.set(entry.position, content);
          this.heldBytes += content.length;
        }
        gauge(this.heldBytes + readBytes);
        if (this.heldBytes > HELD_BYTES_MAX) return found;
      }
    }
    return found;
  }

  /** The content of an entry, undefined if that of its base is not there. */
  private resolve(position: number, stored: Uint8Array): Uint8Array | undefined {
    const { sidecar } = this.catalog.pack(this.pack);
    const base = sidecar.bases[position] as number;
    const baseContent = this.live.get(base);
    if (base >= 0 && !baseContent) return undefined;
    const header = readEntryHeader(stored, 0);
    if (!header) throw corrupt("pack: entry cut off");
    if (header.sizeBytes > HELD_BYTES_MAX) return undefined;
    const inflated = new Uint8Array(header.sizeBytes);
    inflateWhole(this.inflater, stored, header.next, stored.length, inflated);
    if (!baseContent) return inflated;
    const deltaHeader = readDeltaHeader(inflated);
    if (!deltaHeader) throw corrupt("delta: cut off");
    if (deltaHeader.resultBytes > HELD_BYTES_MAX) return undefined;
    const content = new Uint8Array(deltaHeader.resultBytes);
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
