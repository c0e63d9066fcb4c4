import type { Gauge, Scratch } from "../store.ts";
import { capacityOf } from "./content-pool.ts";

/** Target size of a spill file, in bytes. */
const SPILL_BYTES = 4 * 1024 * 1024;
/**
 * Size of a read from a spill file, in bytes: neighbouring contents are needed soon after each
 * other.
 */
const READ_BACK_BYTES = 1024 * 1024;

/** The location of a spilled content. */
interface Spilled {
  readonly file: SpillFile;
  /** Index in the file's list. */
  readonly at: number;
}

interface SpillFile {
  readonly number: number;
  readonly nodes: readonly number[];
  /** Start of each content, and end of the last one, in bytes. */
  readonly starts: readonly number[];
}

/**
 * The contents that unresolved deltas refer to, under a memory budget.
 *
 * When the budget is exceeded, the contents needed last are spilled first. The first pass
 * determines the order in which bases are needed, so this eviction is optimal (Belady's algorithm).
 * Each file is written in that order, so contents are restored in long reads.
 */
export class LiveContents {
  /** Peak memory so far, in bytes. */
  peakBytes = 0;
  /** Bytes written to scratch so far. */
  spilledBytes = 0;
  /** Bytes read from scratch so far. */
  restoredBytes = 0;
  private liveBytes = 0;
  private files = 0;
  private readonly live = new Map<number, Uint8Array>();
  private readonly spilled = new Map<number, Spilled>();
  private readonly scratch: Scratch;
  private readonly budgetBytes: number;
  private readonly nextUse: (node: number) => number;

  /** @param nextUse Returns when a content is needed next, as a number that grows with time. */
  constructor(scratch: Scratch, budgetBytes: number, nextUse: (node: number) => number) {
    this.scratch = scratch;
    this.budgetBytes = budgetBytes;
    this.nextUse = nextUse;
  }

  get isOverBudget(): boolean {
    return this.liveBytes > this.budgetBytes;
  }

  /** Bytes held in memory: each content counts as a buffer of the pool. */
  get heldBytes(): number {
    return this.liveBytes;
  }

  /** True if the content is in memory or in scratch. */
  has(node: number): boolean {
    return this.live.has(node) || this.spilled.has(node);
  }

  /** Returns the content if it is in memory. */
  get(node: number): Uint8Array | undefined {
    return this.live.get(node);
  }

  keep(node: number, content: Uint8Array): void {
    this.live.set(node, content);
    this.liveBytes += capacityOf(content.length);
    this.peakBytes = Math.max(this.peakBytes, this.liveBytes);
  }

  drop(node: number): void {
    const content = this.live.get(node);
    if (content) this.liveBytes -= capacityOf(content.length);
    this.live.delete(node);
    this.spilled.delete(node);
  }

  /**
   * Spills contents until three quarters of the budget are used.
   *
   * @param gauge Receives the additional memory held, in bytes.
   */
  async spill(gauge: Gauge = () => {}): Promise<void> {
    const order = [...this.live.keys()].map((node) => ({ node, use: this.nextUse(node) }));
    order.sort((a, b) => b.use - a.use);
    const leaving: number[] = [];
    let bytes = this.liveBytes;
    for (const { node } of order) {
      if (bytes <= (this.budgetBytes / 4) * 3) break;
      leaving.push(node);
      bytes -= capacityOf(this.live.get(node)?.length ?? 0);
    }
    leaving.reverse();
    for (let at = 0; at < leaving.length;) at = await this.spillFile(leaving, at, gauge);
  }

  /**
   * Writes one file of contents starting at index `from`, and returns the index of the first
   * content of the next file.
   */
  private async spillFile(leaving: readonly number[], from: number, gauge: Gauge): Promise<number> {
    const nodes: number[] = [];
    const starts = [0];
    const contents: Uint8Array[] = [];
    let bytes = 0;
    let at = from;
    for (; at < leaving.length; at++) {
      const node = leaving[at] as number;
      const content = this.live.get(node);
      if (!content) continue;
      if (bytes > 0 && bytes + content.length > SPILL_BYTES) break;
      nodes.push(node);
      contents.push(content);
      bytes += content.length;
      starts.push(bytes);
    }
    const file: SpillFile = { number: this.files++, nodes, starts };
    const joined = contents.length === 1 ? contents[0] : new Uint8Array(bytes);
    for (const [index, content] of contents.entries()) {
      if (contents.length > 1) joined?.set(content, starts[index]);
    }
    gauge(contents.length > 1 ? bytes : 0);
    if (joined) await this.scratch.write(file.number, joined);
    this.spilledBytes += bytes;
    for (const [index, node] of nodes.entries()) {
      this.drop(node);
      this.spilled.set(node, { file, at: index });
    }
    return at;
  }

  /** Restores a spilled content, and the contents needed right after it while the budget allows. */
  async restore(node: number): Promise<Uint8Array> {
    const location = this.spilled.get(node);
    if (!location) throw new Error(`content ${node} was not kept`);
    const { nodes, starts, number } = location.file;
    const start = starts[location.at] as number;
    let last = location.at + 1;
    while (last < nodes.length && (starts[last + 1] as number) - start <= READ_BACK_BYTES) last++;
    const bytes = await this.scratch.read(number, start, starts[last] as number);
    this.restoredBytes += bytes.length;
    for (let at = location.at; at < last; at++) {
      const neighbour = nodes[at] as number;
      const from = (starts[at] as number) - start;
      const to = (starts[at + 1] as number) - start;
      const isRoom = this.liveBytes + capacityOf(to - from) <= this.budgetBytes;
      if (this.spilled.get(neighbour)?.file !== location.file || (neighbour !== node && !isRoom)) {
        continue;
      }
      this.spilled.delete(neighbour);
      this.keep(neighbour, bytes.slice(from, to));
    }
    return this.live.get(node) as Uint8Array;
  }
}
