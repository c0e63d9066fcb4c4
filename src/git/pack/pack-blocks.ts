import type { ByteSource } from "../store.ts";
import type { OpenPack } from "./pack-catalog.ts";

/** What is read at once where entries are read in order, in bytes. */
export const BLOCK_BYTES = 1024 * 1024;
/** The same where they are read here and there, in packs larger than `SMALL_PACK_BYTES`. */
const SCATTERED_BLOCK_BYTES = 64 * 1024;
const SMALL_PACK_BYTES = 4 * 1024 * 1024;
/** Blocks kept, in bytes. */
const HELD_BYTES_MAX = 8 * 1024 * 1024;
/** Blocks of one pack in the numbering of all. */
const PACK_BLOCKS_MAX = 2 ** 32;

/**
 * Reads several packs in blocks, of which the ones used last are kept: entries that are read in pack
 * order, or near each other, or out of small packs, cost few reads.
 */
export class PackBlocks {
  /** Bytes of the blocks that are kept. */
  heldBytes = 0;
  /** Reads of contents so far, through `wrap`. */
  contentReads = 0;
  private readonly sources: readonly ByteSource[];
  private readonly blocks = new Map<number, Uint8Array>();
  private latestKey = Number.NaN;
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

  /** Packs that read through these blocks, for contents: here and there. */
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
    // Blocks of the two sizes are told apart by the sign.
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
