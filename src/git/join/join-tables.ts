import { corrupt, overLimit } from "../error.ts";
import { OID_BYTES } from "../oid.ts";
import {
  type BlockLayout,
  blockLayout,
  formatHistory,
  formatRow,
  formatTrailer,
  ID_ROW_BYTES,
  IDS_PER_BLOCK,
  NO_COMMIT,
  orderLists,
  readNumber,
  rowIn,
  ROWS_PER_BLOCK,
  SEVERAL,
  TABLE_BLOCK_BYTES,
} from "../sidecar/block-tables.ts";
import type { Moves } from "./join-entries.ts";
import { type JoinedHistory, joinHistory } from "./join-history.ts";
import type { JoinPart, JoinPlan } from "./join-plan.ts";
import { PartRows } from "./part-rows.ts";
import { TableReader } from "./table-reader.ts";

/** Objects of which commits of other parts are among the introducers: eight bytes each. */
const FURTHER_MAX = 2_000_000;
/** Bounds the rows of commits in the key of a further introducer. */
const ROWS_MAX = 2 ** 24;

/** Receives the next bytes of a file. */
type Write = (piece: Uint8Array) => Promise<void>;

/**
 * Writes the block tables of a joined pack, from those of its parts. The file has no sidecar before
 * them.
 *
 * Memory: the tables of history, some 100 bytes a commit; eight bytes for each object that commits
 * of several parts introduce.
 *
 * @returns The length of the file in bytes.
 */
export async function writeJoinedTables(
  plan: JoinPlan,
  moves: readonly Moves[],
  write: Write,
): Promise<number> {
  const writer = new TablesWriter(plan, moves, write);
  return writer.run();
}

class TablesWriter {
  private readonly plan: JoinPlan;
  private readonly moves: readonly Moves[];
  private readonly write: Write;
  private readonly joined: JoinedHistory;
  private readonly layout: BlockLayout;
  private firstIds = new Uint8Array(0);

  constructor(plan: JoinPlan, moves: readonly Moves[], write: Write) {
    this.plan = plan;
    this.moves = moves;
    this.write = write;
    this.joined = joinHistory(plan);
    const { history } = this.joined;
    const counts = {
      objects: plan.count,
      outside: plan.outside.count,
      commits: history.commits.length,
      parents: history.parents.length,
      introduced: history.introducedStarts.at(-1) ?? 0,
      tags: history.tags.length,
    };
    this.layout = blockLayout(counts, 0);
  }

  async run(): Promise<number> {
    const { layout, write } = this;
    const further = await this.findFurther();
    await this.writeRows(further);
    await this.writeIds();
    await this.writeLists();
    for (const piece of formatHistory(layout, this.joined.history)) await write(piece);
    await write(this.firstIds);
    await write(formatTrailer(layout));
    return layout.fileBytes;
  }

  /**
   * The commits that introduce an object which another part keeps, as one number with the object's,
   * ascending: its row names only commits of its own part.
   */
  private async findFurther(): Promise<Float64Array> {
    const found: number[] = [];
    await this.visitLists((commit, part, refs) => {
      for (const ref of refs) {
        if (!this.plan.isElsewhere(part, ref)) continue;
        if (found.length === FURTHER_MAX) throw overLimit("the packs share too many objects");
        found.push(this.plan.refOf(part, ref) * ROWS_MAX + commit);
      }
      return undefined;
    });
    return Float64Array.from(found).toSorted();
  }

  private async writeRows(further: Float64Array): Promise<void> {
    const { plan, write } = this;
    let block = new Uint8Array(TABLE_BLOCK_BYTES);
    let filled = 0;
    let at = 0;
    let next = 0;
    for (const [part, each] of plan.parts.entries()) {
      const rows = new PartRows(each);
      const moves = this.moves[part] as Moves;
      for (let number = 0; number < each.blocks.count; number++) {
        if (plan.isCopy(part, number)) continue;
        if (!rows.has(number)) await rows.load(number);
        const { block: from, row } = rows.at(number);
        const commits = this.introducers(part, from, row);
        for (; Math.floor((further[at] ?? -1) / ROWS_MAX) === next; at++) {
          commits.push((further[at] as number) % ROWS_MAX);
        }
        const base = rowIn.base(from, row);
        formatRow(block, filled++, {
          oid: from.subarray(rowIn.oidAt(row), rowIn.oidAt(row) + OID_BYTES),
          offset: rowIn.offset(from, row) + moves.shiftAt(number),
          entryBytes: rowIn.entryBytes(from, row) + (moves.change(number)?.growth ?? 0),
          sizeBytes: rowIn.sizeBytes(from, row),
          base: base < 0 ? -1 : plan.numberOf(part, base),
          introducer: this.highest(commits),
          kind: rowIn.kind(from, row),
          flags: rowIn.hasSeveral(from, row) || new Set(commits).size > 1 ? SEVERAL : 0,
        });
        next++;
        if (filled < ROWS_PER_BLOCK) continue;
        await write(block);
        block = new Uint8Array(TABLE_BLOCK_BYTES);
        filled = 0;
      }
    }
    if (filled > 0) await write(block);
    if (next !== plan.count) throw corrupt("sidecar: of another count");
  }

  /** The commit that a row of a part names, as one of the joined pack. */
  private introducers(part: number, block: Uint8Array, row: number): number[] {
    const commit = rowIn.introducer(block, row);
    return commit === NO_COMMIT ? [] : [this.joined.rowsOfParts[part]?.[commit] as number];
  }

  private highest(commits: readonly number[]): number {
    const { generations } = this.joined.history;
    let found = NO_COMMIT;
    for (const commit of commits) {
      const isHigher =
        found === NO_COMMIT || (generations[found] as number) < (generations[commit] as number);
      if (isHigher) found = commit;
    }
    return found;
  }

  private async writeIds(): Promise<void> {
    const { plan, layout, write } = this;
    const ids = plan.parts.map((_, part) => plan.idsOf(part));
    this.firstIds = new Uint8Array(layout.idBlocks * 4);
    let block = new Uint8Array(TABLE_BLOCK_BYTES);
    let view = new DataView(block.buffer);
    let filled = 0;
    let blocks = 0;
    const flush = async (): Promise<void> => {
      this.firstIds.set(block.subarray(0, 4), blocks++ * 4);
      await write(block);
      block = new Uint8Array(TABLE_BLOCK_BYTES);
      view = new DataView(block.buffer);
      filled = 0;
    };
    await plan.visit(
      ids.map((reader) => [reader]),
      (part, row) => {
        const { bytes } = ids[part] as TableReader;
        const from = (ids[part] as TableReader).offsetOf(row);
        const at = filled++ * ID_ROW_BYTES;
        block.set(bytes.subarray(from, from + OID_BYTES), at);
        const number = plan.numberOf(part, readNumber(bytes, from + OID_BYTES));
        view.setUint32(at + OID_BYTES, number, true);
        return filled === IDS_PER_BLOCK ? flush() : undefined;
      },
    );
    if (filled > 0) await flush();
  }

  private async writeLists(): Promise<void> {
    const { layout, plan, write } = this;
    await this.visitLists((_, part, refs) => {
      const mapped = refs.map((ref) => plan.refOf(part, ref));
      return mapped.length > 0 ? write(new Uint8Array(mapped.buffer)) : undefined;
    });
    await write(new Uint8Array(layout.historyAt - layout.listsAt - layout.counts.introduced * 4));
  }

  /**
   * Visits the lists of introduced objects in the order of the joined file, which is that of each
   * part's, too.
   *
   * @param visit Receives the row of the commit, its part, and the references of that part.
   */
  private async visitLists(
    visit: (
      commit: number,
      part: number,
      refs: Uint32Array<ArrayBuffer>,
    ) => Promise<void> | undefined,
  ): Promise<void> {
    const { commits, history } = this.joined;
    const readers = this.plan.parts.map((part) => listsOf(part));
    for (const commit of orderLists(history.generations)) {
      const part = commits.parts[commit] as number;
      const { index } = (this.plan.parts[part] as JoinPart).blocks;
      const row = commits.rows[commit] as number;
      const { introducedStarts } = index.history;
      const count = (introducedStarts[row + 1] as number) - (introducedStarts[row] as number);
      const refs = new Uint32Array(count);
      const first = index.listStarts[row] as number;
      const reader = readers[part] as TableReader;
      for (let at = 0; at < count; at++) {
        if (!reader.has(first + at)) await reader.load(first + at);
        refs[at] = readNumber(reader.bytes, reader.offsetOf(first + at));
      }
      const pending = visit(commit, part, refs);
      if (pending) await pending;
    }
  }
}

/** The lists of a part as one column of references. */
function listsOf({ blocks, tables }: JoinPart): TableReader {
  const { listsAt, counts } = blocks.index.layout;
  return new TableReader(tables, { at: listsAt, rowBytes: 4, count: counts.introduced });
}
