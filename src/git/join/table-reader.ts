import { TABLE_BLOCK_BYTES } from "../sidecar/block-tables.ts";
import type { ByteSource } from "../store.ts";

/** Bytes that are read at once. */
const READ_BYTES = 1024 * 1024;

/** A table of rows of one size in a file. */
export interface TableRange {
  /** Its offset in the file, in bytes. */
  readonly at: number;
  readonly rowBytes: number;
  readonly count: number;
  /**
   * Rows of each block of `TABLE_BLOCK_BYTES`, if the table is in blocks that rows do not cross.
   */
  readonly rowsPerBlock?: number;
}

/** Reads a table in order, some of its rows at a time: at most 1 MB is held. */
export class TableReader {
  /** The rows in memory. */
  bytes: Uint8Array = new Uint8Array(0);
  private readonly source: ByteSource;
  private readonly table: TableRange;
  private first = 0;
  private end = 0;

  constructor(source: ByteSource, table: TableRange) {
    this.source = source;
    this.table = table;
  }

  has(row: number): boolean {
    return row >= this.first && row < this.end;
  }

  /** The offset in `bytes` of a row that is in memory. */
  offsetOf(row: number): number {
    const { rowBytes, rowsPerBlock } = this.table;
    const at = row - this.first;
    if (rowsPerBlock === undefined) return at * rowBytes;
    return Math.floor(at / rowsPerBlock) * TABLE_BLOCK_BYTES + (at % rowsPerBlock) * rowBytes;
  }

  /** Loads a row and those behind it. */
  async load(row: number): Promise<void> {
    const { at, rowBytes, rowsPerBlock, count } = this.table;
    if (rowsPerBlock === undefined) {
      const end = Math.min(count, row + Math.floor(READ_BYTES / rowBytes));
      this.bytes = await this.source.read(at + row * rowBytes, at + end * rowBytes);
      this.first = row;
      this.end = end;
      return;
    }
    const blocks = Math.ceil(count / rowsPerBlock);
    const block = Math.floor(row / rowsPerBlock);
    const last = Math.min(blocks, block + READ_BYTES / TABLE_BLOCK_BYTES);
    this.bytes = await this.source.read(
      at + block * TABLE_BLOCK_BYTES,
      at + last * TABLE_BLOCK_BYTES,
    );
    this.first = block * rowsPerBlock;
    this.end = Math.min(count, last * rowsPerBlock);
  }
}
