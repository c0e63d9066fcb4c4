import { ROW_BYTES, ROWS_PER_BLOCK } from "../sidecar/block-tables.ts";
import type { JoinPart } from "./join-plan.ts";
import { TableReader } from "./table-reader.ts";

/** The rows of a part's objects, in the order of its entries. */
export class PartRows {
  private readonly reader: TableReader;

  constructor({ blocks, tables }: JoinPart) {
    const { rowsAt, counts } = blocks.index.layout;
    const shape = { rowBytes: ROW_BYTES, rowsPerBlock: ROWS_PER_BLOCK };
    this.reader = new TableReader(tables, { at: rowsAt, count: counts.objects, ...shape });
  }

  has(number: number): boolean {
    return this.reader.has(number);
  }

  load(number: number): Promise<void> {
    return this.reader.load(number);
  }

  /** The row of a number that is in memory, as the functions of `rowIn` take it. */
  at(number: number): { block: Uint8Array; row: number } {
    const block = this.reader.bytes.subarray(this.reader.offsetOf(number));
    return { block, row: 0 };
  }
}
