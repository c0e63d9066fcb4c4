import type { Codec } from "../codec.ts";
import { OID_BYTES, oidBytes } from "../oid.ts";
import { formatIdxHeader, IDX_HEADER_BYTES, LARGE_OFFSET } from "../pack/idx-file.ts";
import { PieceOutput } from "../pack/piece-output.ts";
import { readNumber } from "../sidecar/block-tables.ts";
import { corrupt } from "../error.ts";
import type { Moves } from "./join-entries.ts";
import type { JoinPart, JoinPlan } from "./join-plan.ts";
import { TableReader } from "./table-reader.ts";

/** The columns of an index: their distance from the ids for each object of the pack, in bytes. */
const CRCS_AT = OID_BYTES;
const OFFSETS_AT = OID_BYTES + 4;
const LARGE_AT = OID_BYTES + 8;

/**
 * Writes the index of a joined pack, from those of its parts, column by column: it holds no entry
 * of it.
 *
 * Cost: four passes over the ids of all parts, and one over each other column of their indexes; two
 * over their offsets.
 *
 * @returns The length of the index in bytes.
 */
export async function writeJoinedIdx(
  plan: JoinPlan,
  moves: readonly Moves[],
  checksum: string,
  codec: Codec,
  write: (piece: Uint8Array) => Promise<void>,
): Promise<number> {
  const writer = new IdxWriter(plan, moves, new PieceOutput(codec, write));
  return writer.run(checksum);
}

class IdxWriter {
  private readonly plan: JoinPlan;
  private readonly moves: readonly Moves[];
  private readonly output: PieceOutput;
  private readonly cell = new DataView(new ArrayBuffer(8));
  /** The row that is being visited. */
  private row = 0;

  constructor(plan: JoinPlan, moves: readonly Moves[], output: PieceOutput) {
    this.plan = plan;
    this.moves = moves;
    this.output = output;
  }

  async run(checksum: string): Promise<number> {
    const { output, plan } = this;
    await output.push(formatIdxHeader(plan.fanout));
    const ids = plan.parts.map((_, part) => plan.idsOf(part));
    await this.visit(ids, [], (part) => {
      const reader = ids[part] as TableReader;
      const at = reader.offsetOf(this.row);
      this.output.put(reader.bytes.subarray(at, at + OID_BYTES));
    });
    await this.writeCrcs();
    let large = 0;
    await this.visitOffsets((offset) => {
      this.putNumber(offset < LARGE_OFFSET ? offset : LARGE_OFFSET + large++);
    });
    if (large > 0) {
      await this.visitOffsets((offset) => {
        if (offset < LARGE_OFFSET) return;
        this.cell.setBigUint64(0, BigInt(offset));
        this.output.put(new Uint8Array(this.cell.buffer));
      });
    }
    await output.push(oidBytes(checksum));
    await output.finish();
    return output.sizeBytes;
  }

  private visit(
    ids: readonly TableReader[],
    others: readonly (readonly TableReader[])[],
    put: (part: number) => void,
  ): Promise<void> {
    const readers = ids.map((reader, part) => [reader, ...(others[part] ?? [])]);
    return this.plan.visit(readers, (part, row) => {
      this.row = row;
      if (!this.output.hasRoom(OID_BYTES)) return this.output.flush().then(() => put(part));
      put(part);
      return undefined;
    });
  }

  private async writeCrcs(): Promise<void> {
    const ids = this.plan.parts.map((_, part) => this.plan.idsOf(part));
    const crcs = this.plan.parts.map((part) => columnOf(part, CRCS_AT, 4));
    const others = crcs.map((reader) => [reader]);
    await this.visit(ids, others, (part) => {
      const changed = (this.moves[part] as Moves).change(this.numberIn(ids, part));
      this.putNumber(changed?.crc ?? uint32At(crcs[part] as TableReader, this.row));
    });
  }

  /** Visits the offsets of the joined pack, in the order of ids. */
  private async visitOffsets(put: (offset: number) => void): Promise<void> {
    const { parts } = this.plan;
    const ids = parts.map((_, part) => this.plan.idsOf(part));
    const offsets = parts.map((part) => new Offsets(part));
    const readers = offsets.map((each) => each.readers);
    await this.plan.visit(
      ids.map((reader, part) => [reader, ...(readers[part] ?? [])]),
      (part, row) => {
        this.row = row;
        const own = offsets[part] as Offsets;
        const write = (): void => {
          const shift = (this.moves[part] as Moves).shiftAt(this.numberIn(ids, part));
          put(own.at(row) + shift);
        };
        const pending = own.prepare(row);
        if (pending || !this.output.hasRoom(8)) return this.writeAfter(pending, write);
        write();
        return undefined;
      },
    );
  }

  private async writeAfter(pending: Promise<void> | undefined, write: () => void): Promise<void> {
    await pending;
    await this.output.flush();
    write();
  }

  private numberIn(ids: readonly TableReader[], part: number): number {
    const reader = ids[part] as TableReader;
    return readNumber(reader.bytes, reader.offsetOf(this.row) + OID_BYTES);
  }

  private putNumber(number: number): void {
    this.cell.setUint32(0, number);
    this.output.put(new Uint8Array(this.cell.buffer, 0, 4));
  }
}

/** A column of an index, with a number of a size for each object. */
function columnOf({ idx, blocks }: JoinPart, at: number, rowBytes: number): TableReader {
  const { count } = blocks;
  return new TableReader(idx, { at: IDX_HEADER_BYTES + at * count, rowBytes, count });
}

function uint32At(reader: TableReader, row: number): number {
  const { bytes } = reader;
  const at = reader.offsetOf(row);
  return (
    (((bytes[at] as number) << 24) |
      ((bytes[at + 1] as number) << 16) |
      ((bytes[at + 2] as number) << 8) |
      (bytes[at + 3] as number)) >>>
    0
  );
}

/** The offsets of a part, of which those above 2 GiB are in a table of their own. */
class Offsets {
  readonly readers: readonly TableReader[];
  private readonly small: TableReader;
  private readonly large: TableReader;
  private readonly largeCount: number;

  constructor(part: JoinPart) {
    const { count } = part.blocks;
    const at = IDX_HEADER_BYTES + LARGE_AT * count;
    this.largeCount = (part.idx.sizeBytes - 2 * OID_BYTES - at) / 8;
    this.small = columnOf(part, OFFSETS_AT, 4);
    this.large = new TableReader(part.idx, { at, rowBytes: 8, count: this.largeCount });
    this.readers = [this.small];
  }

  /**
   * Loads what the offset of a row needs, whose own column is in memory; undefined if it is in
   * memory.
   */
  prepare(row: number): Promise<void> | undefined {
    const large = this.largeRow(row);
    return large < 0 || this.large.has(large) ? undefined : this.large.load(large);
  }

  at(row: number): number {
    const large = this.largeRow(row);
    if (large < 0) return uint32At(this.small, row);
    const { bytes } = this.large;
    const view = new DataView(bytes.buffer, bytes.byteOffset + this.large.offsetOf(large), 8);
    return Number(view.getBigUint64(0));
  }

  /** The row in the table of large offsets, -1 for a small one. */
  private largeRow(row: number): number {
    const offset = uint32At(this.small, row);
    if (offset < LARGE_OFFSET) return -1;
    const large = offset - LARGE_OFFSET;
    if (large >= this.largeCount) throw corrupt("idx: no such offset");
    return large;
  }
}
