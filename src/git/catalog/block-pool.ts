import type { Gauge } from "../store.ts";

/**
 * Blocks that are held at once, over all packs: 6 MB. Work between two awaits must not need more.
 */
export const BLOCKS_MAX = 96;

/** Loads that one piece of work may need. Beyond, it needs more blocks at once than are held. */
const LOADS_MAX = 1000;

/** Thrown where a block of a table is needed and not in memory: see `resident`. */
export class BlockMissing extends Error {
  /** Loads the block. */
  readonly load: () => Promise<unknown>;

  constructor(load: () => Promise<unknown>) {
    super("a block of a table is not in memory");
    this.load = load;
  }
}

/** Thrown where the whole tables of a pack are needed, of which only blocks are in memory. */
export class TablesMissing extends Error {
  constructor() {
    super("the whole tables of a pack are not in memory");
  }
}

/**
 * Runs work on tables of which blocks may be missing: loads each that it misses, and runs it again.
 *
 * @param work Changes nothing before it has read what it needs, since it may run several times;
 * needs fewer than `BLOCKS_MAX` blocks.
 */
export async function resident<T>(work: () => T): Promise<T> {
  for (let loads = 0; ; loads++) {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof BlockMissing) || loads === LOADS_MAX) throw error;
      await error.load();
    }
  }
}

/**
 * The blocks of tables that one request holds, bounded in number. Evicts the one that was loaded
 * first.
 */
export class BlockPool {
  /** Size of the blocks in bytes. */
  heldBytes = 0;
  private readonly blocks = new Map<string, Uint8Array>();
  private readonly loading = new Map<string, Promise<void>>();
  private readonly gauge: Gauge;

  /** @param gauge Receives the size of the blocks in bytes. */
  constructor(gauge: Gauge = () => {}) {
    this.gauge = gauge;
  }

  get(key: string): Uint8Array | undefined {
    return this.blocks.get(key);
  }

  /** Loads a block, once for all who need it at the same time. */
  load(key: string, read: () => Promise<Uint8Array>): Promise<void> {
    if (this.blocks.has(key)) return Promise.resolve();
    const running = this.loading.get(key);
    if (running) return running;
    const loading = this.fill(key, read);
    this.loading.set(key, loading);
    return loading;
  }

  private async fill(key: string, read: () => Promise<Uint8Array>): Promise<void> {
    try {
      const block = await read();
      this.blocks.set(key, block);
      this.heldBytes += block.length;
      for (const [oldest, held] of this.blocks) {
        if (this.blocks.size <= BLOCKS_MAX) break;
        this.blocks.delete(oldest);
        this.heldBytes -= held.length;
      }
      this.gauge(this.heldBytes);
    } finally {
      this.loading.delete(key);
    }
  }
}
