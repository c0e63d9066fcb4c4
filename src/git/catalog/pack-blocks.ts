import type { ByteSource } from "../store.ts";
import type { OpenPack } from "./pack-catalog.ts";

/** Block size of sequential reads, in bytes. */
export const BLOCK_BYTES = 1024 * 1024;
/** Block size of scattered reads in packs larger than `SMALL_PACK_BYTES`, in bytes. */
const SCATTERED_BLOCK_BYTES = 64 * 1024;
const SMALL_PACK_BYTES = 4 * 1024 * 1024;
/** Maximum size of cached blocks, in bytes. */
const HELD_BYTES_MAX = 8 * 1024 * 1024;
/** Block numbers reserved for each pack in the cache keys. */
const PACK_BLOCKS_MAX = 2 ** 32;

/**
 * Reads several packs in blocks with an LRU cache: reads in pack order, of neighbouring entries, or
 * of small packs hit the cache.
 */
export class PackBlocks {
  /** Size of the cached blocks in bytes. */
  heldBytes = 0;
  /** Number of content reads so far, through `wrap`. */
  contentReads = 0;
  private readonly sources: readonly ByteSource[];
  private readonly blocks = new Map<number, Uint8Array>();
  private latestKey = Number.NaN;
  private latest: Uint8Array = new Uint8Array(0);

  constructor(sources: readonly ByteSource[]) {
    this.sources = sources;
  }

  /** Returns the range as a view if it lies in the block read last; undefined otherwise. */
  view(pack: number, start: number, end: number): Uint8Array | undefined {
    const block = Math.floor(start / BLOCK_BYTES);
    const from = start - block * BLOCK_BYTES;
    const to = from + end - start;
    if (pack * PACK_BLOCKS_MAX + block !== this.latestKey || to > this.latest.length) {
      return undefined;
    }
    return this.latest.subarray(from, to);
  }

  /**
   * Returns the range, which the caller must not modify: a view within a block, a copy across two
   * blocks.
   */
  async read(
    pack: number,
    start: number,
    end: number,
    blockBytes = BLOCK_BYTES,
  ): Promise<Uint8Array> {
    if (end - start > blockBytes) return this.source(pack).read(start, end);
    const first = Math.floor(start / blockBytes);
    const from = start - first * blockBytes;
    const block = await this.block(pack, first, blockBytes);
    if (from + end - start <= block.length) return block.subarray(from, from + end - start);
    const joined = new Uint8Array(end - start);
    const head = block.subarray(from);
    const next = await this.block(pack, first + 1, blockBytes);
    joined.set(head);
    joined.set(next.subarray(0, joined.length - head.length), head.length);
    return joined;
  }

  /** Returns packs whose sources read through this cache, for scattered reads of contents. */
  wrap(packs: readonly OpenPack[]): OpenPack[] {
    return packs.map(({ idx, sidecar, source: { sizeBytes } }, pack) => {
      const blockBytes = sizeBytes <= SMALL_PACK_BYTES ? BLOCK_BYTES : SCATTERED_BLOCK_BYTES;
      const read = (start: number, end: number): Promise<Uint8Array> => {
        if (end - start > blockBytes) this.contentReads++;
        return this.read(pack, start, end, blockBytes);
      };
      return { idx, sidecar, source: { sizeBytes, read } };
    });
  }

  private async block(pack: number, block: number, blockBytes: number): Promise<Uint8Array> {
    const isScattered = blockBytes !== BLOCK_BYTES;
    // The sign of the key separates the blocks of the two sizes.
    const key = isScattered
      ? -1 - (pack * PACK_BLOCKS_MAX + block)
      : pack * PACK_BLOCKS_MAX + block;
    let bytes = this.blocks.get(key);
    if (bytes) {
      this.blocks.delete(key);
    } else {
      const source = this.source(pack);
      const start = block * blockBytes;
      bytes = await source.read(start, Math.min(source.sizeBytes, start + blockBytes));
      if (isScattered) this.contentReads++;
      this.heldBytes += bytes.length;
    }
    this.blocks.set(key, bytes);
    if (!isScattered) {
      this.latestKey = key;
      this.latest = bytes;
    }
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
