import type { Gauge, Scratch } from "../store.ts";

/** Spilled contents go into files of about this size, in bytes. */
const SPILL_BYTES = 4 * 1024 * 1024;
/** How much is read back at once, in bytes: neighbours are needed soon after each other. */
const READ_BACK_BYTES = 1024 * 1024;

/** Where a spilled content lies. */
interface Spilled {
  readonly file: SpillFile;
  /** Its index in the file's list. */
  readonly at: number;
}

interface SpillFile {
  readonly number: number;
  readonly nodes: readonly number[];
  /** Where each content starts, in bytes, and where the last one ends. */
  readonly starts: readonly number[];
}

/**
 * The contents that deltas still to be resolved refer to, under a budget.
 *
 * When the budget is exceeded, what is needed last leaves memory first. The order in which bases
 * are needed is known from the first pass, so this choice is the best there is (Belady's); and as
 * each file is laid out in that order, contents come back in long reads.
 */
export class LiveContents {
  /** The most bytes held at once so far. */
  peakBytes = 0;
  /** Bytes written to scratch so far. */
  spilledBytes = 0;
  private liveBytes = 0;
  private files = 0;
  private readonly live = new Map<number, Uint8Array>();
  private readonly spilled = new Map<number, Spilled>();
  private readonly scratch: Scratch;
  private readonly budgetBytes: number;
  private readonly nextUse: (node: number) => number;

  /** @param nextUse When a content is needed next, as a number that grows with time. */
  constructor(scratch: Scratch, budgetBytes: number, nextUse: (node: number) => number) {
    this.scratch = scratch;
    this.budgetBytes = budgetBytes;
    this.nextUse = nextUse;
  }

  get isOverBudget(): boolean {
    return this.liveBytes > this.budgetBytes;
  }

  /** Bytes in memory now. */
  get heldBytes(): number {
    return this.liveBytes;
  }

  /** True if the content is held, in memory or in scratch. */
  has(node: number): boolean {
    return this.live.has(node) || this.spilled.has(node);
  }

  /** The content if it is in memory. */
  get(node: number): Uint8Array | undefined {
    return this.live.get(node);
  }

  keep(node: number, content: Uint8Array): void {
    this.live.set(node, content);
    this.liveBytes += content.length;
    this.peakBytes = Math.max(this.peakBytes, this.liveBytes);
  }

  drop(node: number): void {
    this.liveBytes -= this.live.get(node)?.length ?? 0;
    this.live.delete(node);
    this.spilled.delete(node);
  }

  /**
   * Brings memory down to three quarters of the budget.
   *
   * @param gauge Told what is held besides, in bytes.
   */
  async spill(gauge: Gauge = () => {}): Promise<void> {
    const order = [...this.live.keys()].map((node) => ({ node, use: this.nextUse(node) }));
    order.sort((a, b) => b.use - a.use);
    const leaving: number[] = [];
    let bytes = this.liveBytes;
    for (const { node } of order) {
      if (bytes <= (this.budgetBytes / 4) * 3) break;
      leaving.push(node);
      bytes -= this.live.get(node)?.length ?? 0;
    }
    leaving.reverse();
    for (let at = 0; at < leaving.length;) at = await this.spillFile(leaving, at, gauge);
  }

  /** Writes one file of the contents from `from` on and returns where the next one starts. */
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

  /** Brings a spilled content back, with those that are needed right after it if there is room. */
  async restore(node: number): Promise<Uint8Array> {
    const place = this.spilled.get(node);
    if (!place) throw new Error(`content ${node} was not kept`);
    const { nodes, starts, number } = place.file;
    const start = starts[place.at] as number;
    let last = place.at + 1;
    while (last < nodes.length && (starts[last + 1] as number) - start <= READ_BACK_BYTES) last++;
    const bytes = await this.scratch.read(number, start, starts[last] as number);
    for (let at = place.at; at < last; at++) {
      const neighbour = nodes[at] as number;
      const from = (starts[at] as number) - start;
      const to = (starts[at + 1] as number) - start;
      const isRoom = this.liveBytes + to - from <= this.budgetBytes;
      if (this.spilled.get(neighbour)?.file !== place.file || (neighbour !== node && !isRoom)) {
        continue;
      }
      this.spilled.delete(neighbour);
      this.keep(neighbour, bytes.slice(from, to));
    }
    return this.live.get(node) as Uint8Array;
  }
}
