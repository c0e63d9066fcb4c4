import type { ByteSource } from "../store.ts";
import type { OpenPack } from "./pack-catalog.ts";

/** What is read at once, in bytes. */
export const BLOCK_BYTES = 1024 * 1024;
/** Blocks kept, in bytes. */
const HELD_BYTES_MAX = 8 * 1024 * 1024;
/** Blocks of one pack in the numbering of all. */
const PACK_BLOCKS_MAX = 2 ** 32;

/**
 * Reads several packs in blocks of 1 MB, of which the ones used last are kept: entries that are read
 * in pack order, or near each other, or out of small packs, cost few reads.
 */
export class PackBlocks {
  /** Bytes of the blocks that are kept. */
  heldBytes = 0;
  private readonly sources: readonly ByteSource[];
  private readonly blocks = new Map<number, Uint8Array>();
  private latestKey = -1;
  private latest: Uint8Array = new Uint8Array(0);

  constructor(sources: readonly ByteSource[]) {
    this.sources = sources;
  }

  /** The bytes as a view, if they lie in the block that was asked for last. */
  view(pack: number, start: number, end: number): Uint8Array | undefined {
    const block = Math.floor(start / BLOCK_BYTES);
    const from = start - block * BLOCK_BYTES;
    const to = from + end - start;
    if (pack * PACK_BLOCKS_MAX + block !== this.latestKey || to > this.latest.length) {
      return undefined;
    }
    return this.latest.subarray(from, to);
  }

  /** The bytes, which the caller must not change: a view within a block, a copy across blocks. */
  async read(pack: number, start: number, end: number): Promise<Uint8Array> {
    const first = Math.floor(start / BLOCK_BYTES);
    const from = start - first * BLOCK_BYTES;
    const block = await this.block(pack, first);
    if (from + end - start <= block.length) return block.subarray(from, from + end - start);
    if (end - start > BLOCK_BYTES) return this.source(pack).read(start, end);
    const joined = new Uint8Array(end - start);
    const head = block.subarray(from);
    joined.set(head);
    joined.set(
      (await this.block(pack, first + 1)).subarray(0, joined.length - head.length),
      head.length,
    );
    return joined;
  }

  /** Packs that read through these blocks. */
  wrap(packs: readonly OpenPack[]): OpenPack[] {
    return packs.map(({ idx, sidecar, source }, pack) => ({
      idx,
      sidecar,
      source: {
        sizeBytes: source.sizeBytes,
        read: (start, end) => this.read(pack, start, end),
      },
    }));
  }

  private async block(pack: number, block: number): Promise<Uint8Array> {
    const key = pack * PACK_BLOCKS_MAX + block;
    let bytes = this.blocks.get(key);
    if (bytes) {
      this.blocks.delete(key);
    } else {
      const source = this.source(pack);
      const start = block * BLOCK_BYTES;
      bytes = await source.read(start, Math.min(source.sizeBytes, start + BLOCK_BYTES));
      this.heldBytes += bytes.length;
    }
    this.blocks.set(key, bytes);
    this.latestKey = key;
    this.latest = bytes;
    for (const [oldest, held] of this.blocks) {
      if (this.heldBytes <= HELD_BYTES_MAX) break;
      this.blocks.delete(oldest);
      this.heldBytes -= held.length;
    }
    return bytes;
  }

  private source(pack: number): ByteSource {
    const source = this.sources[pack];
    if (!source) throw new Error(`no pack ${pack}`);
    return source;
  }
}
