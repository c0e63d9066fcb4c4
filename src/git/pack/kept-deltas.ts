/** Maximum bytes of all kept deltas together. */
const KEPT_BYTES_MAX = 8 * 2 ** 20;
/** Size of a block of memory in bytes; a longer delta is not kept. */
const BLOCK_BYTES = 256 * 1024;
const START_ENTRIES = 1024;
/** Start of an entry whose delta is not kept. */
const NONE = 0;

/**
 * Inflated deltas of a pack, kept from the first pass for the second one, which then need not
 * inflate them again. Most deltas are short, so that all those of a pack of usual size fit.
 */
export class KeptDeltas {
  private readonly blocks: Uint8Array[] = [];
  /** Start of each entry's delta in all blocks together, plus one. */
  private starts = new Uint32Array(0);
  private lengths = new Uint32Array(0);
  /** Used bytes of the last block. */
  private usedBytes = BLOCK_BYTES;

  /** Memory held in bytes. */
  get heldBytes(): number {
    return this.blocks.length * BLOCK_BYTES + 8 * this.starts.length;
  }

  /** Keeps a copy of the delta of an entry, if there is room for it. */
  keep(entry: number, delta: Uint8Array): void {
    const { length } = delta;
    if (length > BLOCK_BYTES) return;
    if (this.usedBytes + length > BLOCK_BYTES) {
      if ((this.blocks.length + 1) * BLOCK_BYTES > KEPT_BYTES_MAX) return;
      this.blocks.push(new Uint8Array(BLOCK_BYTES));
      this.usedBytes = 0;
    }
    if (entry >= this.starts.length) this.grow(entry);
    this.blocks.at(-1)?.set(delta, this.usedBytes);
    this.starts[entry] = (this.blocks.length - 1) * BLOCK_BYTES + this.usedBytes + 1;
    this.lengths[entry] = length;
    this.usedBytes += length;
  }

  has(entry: number): boolean {
    return (this.starts[entry] ?? NONE) !== NONE;
  }

  /** The delta of an entry, as a view; undefined if it is not kept. */
  get(entry: number): Uint8Array | undefined {
    const start = this.starts[entry] ?? NONE;
    if (start === NONE) return undefined;
    const offset = (start - 1) % BLOCK_BYTES;
    const block = this.blocks[(start - 1 - offset) / BLOCK_BYTES];
    return block?.subarray(offset, offset + (this.lengths[entry] as number));
  }

  /** Releases the memory. */
  clear(): void {
    this.blocks.length = 0;
    this.starts = new Uint32Array(0);
    this.lengths = new Uint32Array(0);
    this.usedBytes = BLOCK_BYTES;
  }

  private grow(entry: number): void {
    const { starts, lengths } = this;
    const count = Math.max(START_ENTRIES, 2 * starts.length, entry + 1);
    this.starts = new Uint32Array(count);
    this.starts.set(starts);
    this.lengths = new Uint32Array(count);
    this.lengths.set(lengths);
  }
}
