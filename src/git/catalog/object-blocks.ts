import { runNow } from "../budget.ts";
import { corrupt } from "../error.ts";
import { COMMIT, TAG } from "../object/kind.ts";
import { compareOidBytes, formatOid, type Oid, OID_BYTES, oidBytes } from "../oid.ts";
import { sortByOid } from "../pack/oid-order.ts";
import {
  type BlockLayout,
  orderLists,
  ID_ROW_BYTES,
  IDS_PER_BLOCK,
  NO_COMMIT,
  type PackHistory,
  parseHistory,
  readNumber,
  rowIn,
  ROWS_PER_BLOCK,
  TABLE_BLOCK_BYTES,
} from "../sidecar/block-tables.ts";
import type { ByteSource } from "../store.ts";
import { BlockMissing, type BlockPool } from "./block-pool.ts";

/**
 * The parts in memory of a pack's tables that are read by block: about 60 bytes a commit and one
 * for 2,730 objects.
 */
export class BlockIndex {
  readonly layout: BlockLayout;
  readonly history: PackHistory;
  /** The first four bytes of each block's first id. */
  readonly firstIds: Uint32Array;
  /** The start of each commit's list in the file, in numbers from the first list on. */
  readonly listStarts: Uint32Array;
  /** The rows of commits by id. */
  private readonly byId: Uint32Array;

  /** @param tail The bytes of the file from `historyAt` on. */
  constructor(layout: BlockLayout, tail: Uint8Array) {
    this.layout = layout;
    const firstIdsStart = layout.firstIdsAt - layout.historyAt;
    this.history = parseHistory(layout, tail.subarray(0, firstIdsStart));
    const view = new DataView(tail.buffer, tail.byteOffset + firstIdsStart, layout.idBlocks * 4);
    this.firstIds = Uint32Array.from({ length: layout.idBlocks }, (_, at) =>
      view.getUint32(at * 4),
    );
    const { introducedStarts, generations, commitOids } = this.history;
    this.listStarts = new Uint32Array(generations.length);
    let at = 0;
    for (const row of orderLists(generations)) {
      this.listStarts[row] = at;
      at += (introducedStarts[row + 1] as number) - (introducedStarts[row] as number);
    }
    this.byId = runNow(sortByOid(commitOids, generations.length));
  }

  /** Memory held in bytes. */
  get heldBytes(): number {
    const arrays = [this.firstIds, this.listStarts, this.byId];
    const tables = Object.values(this.history) as Uint8Array[];
    return [...arrays, ...tables].reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  /** The row of a commit in the tables of history, -1 if it has none. */
  findCommit(oid: Uint8Array, offset: number): number {
    const at = this.lowerBound(oid, offset);
    const row = this.byId[at];
    if (row === undefined) return -1;
    const { commitOids } = this.history;
    return compareOidBytes(commitOids, row * OID_BYTES, oid, offset) === 0 ? row : -1;
  }

  /** The rows of the commits whose hex id starts with `prefix`. */
  findCommits(prefix: string): number[] {
    const rows: number[] = [];
    const { commitOids } = this.history;
    for (let at = this.lowerBound(oidBytes(prefix.padEnd(40, "0")), 0); ; at++) {
      const row = this.byId[at];
      if (row === undefined || !formatOid(commitOids, row * OID_BYTES).startsWith(prefix)) {
        return rows;
      }
      rows.push(row);
    }
  }

  commitOid(row: number): Oid {
    return formatOid(this.history.commitOids, row * OID_BYTES);
  }

  private lowerBound(oid: Uint8Array, offset: number): number {
    const { commitOids } = this.history;
    let low = 0;
    let high = this.byId.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const row = this.byId[middle] as number;
      if (compareOidBytes(commitOids, row * OID_BYTES, oid, offset) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/**
 * The objects of a pack by rows in blocks of a file. A position is the number of an object in pack
 * order, and not its rank by id as in an index. Commits are found without a block.
 *
 * Each method throws `BlockMissing` if the block that it needs is not in memory.
 */
export class ObjectBlocks {
  readonly index: BlockIndex;
  private readonly source: ByteSource;
  private readonly pool: BlockPool;
  private readonly name: string;
  /** The blocks of rows that were used last, by number, the latest first. */
  private readonly latestRows: number[] = [];

  /**
   * @param source The file of the sidecar and the block tables.
   * @param name   Identifies the file in the pool.
   */
  constructor(index: BlockIndex, source: ByteSource, pool: BlockPool, name: string) {
    this.index = index;
    this.source = source;
    this.pool = pool;
    this.name = name;
  }

  get count(): number {
    return this.index.layout.counts.objects;
  }

  /** The position of the object with the raw id at `oid[offset..]`, -1 if it is not in the pack. */
  find(oid: Uint8Array, offset: number): number {
    const commit = this.index.findCommit(oid, offset);
    if (commit >= 0) return this.index.history.commits[commit] as number;
    const last = this.lastBlockOf(oid, offset);
    if (!this.hasIdBlock(last)) {
      const near = this.findInLatestRows(oid, offset);
      if (near >= 0) return near;
    }
    // More than one block only where ids share their first four bytes.
    for (let at = last; at >= 0; at--) {
      const block = this.idBlock(at);
      if (at > 0 && compareOidBytes(block, 0, oid, offset) > 0) continue;
      let low = 0;
      let high = Math.min(IDS_PER_BLOCK, this.count - at * IDS_PER_BLOCK) - 1;
      while (low <= high) {
        const middle = (low + high) >>> 1;
        const start = middle * ID_ROW_BYTES;
        const difference = compareOidBytes(block, start, oid, offset);
        if (difference === 0) return readNumber(block, start + OID_BYTES);
        if (difference < 0) low = middle + 1;
        else high = middle - 1;
      }
      return -1;
    }
    return -1;
  }

  /** Whether there is another object than `oid` whose hex id starts with `prefix`. */
  hasOther(prefix: string, oid: Oid): boolean {
    const low = oidBytes(prefix.padEnd(2 * OID_BYTES, "0"));
    let first = this.lastBlockOf(low, 0);
    while (first > 0 && compareOidBytes(this.idBlock(first), 0, low, 0) > 0) first--;
    for (let at = first; at < this.index.layout.idBlocks; at++) {
      const block = this.idBlock(at);
      const count = Math.min(IDS_PER_BLOCK, this.count - at * IDS_PER_BLOCK);
      for (let row = 0; row < count; row++) {
        if (compareOidBytes(block, row * ID_ROW_BYTES, low, 0) < 0) continue;
        const found = formatOid(block, row * ID_ROW_BYTES);
        if (!found.startsWith(prefix)) return false;
        if (found !== oid) return true;
      }
    }
    return false;
  }

  oid(position: number): Oid {
    const { block, row } = this.at(position);
    return formatOid(block, rowIn.oidAt(row));
  }

  /** The raw id, as a view. */
  rawOid(position: number): Uint8Array {
    const { block, row } = this.at(position);
    return block.subarray(rowIn.oidAt(row), rowIn.oidAt(row) + OID_BYTES);
  }

  kind(position: number): number {
    // Commits and tags are in memory.
    const { commits, tags } = this.index.history;
    if (hasNumber(commits, position)) return COMMIT;
    if (hasNumber(tags, position)) return TAG;
    const { block, row } = this.at(position);
    return rowIn.kind(block, row);
  }

  sizeBytes(position: number): number {
    const { block, row } = this.at(position);
    return rowIn.sizeBytes(block, row);
  }

  /** -1 for an object stored whole. */
  base(position: number): number {
    const { block, row } = this.at(position);
    const base = rowIn.base(block, row);
    if (base >= this.count) throw corrupt("sidecar: no such base");
    return base;
  }

  range(position: number): { start: number; end: number } {
    const { block, row } = this.at(position);
    const start = rowIn.offset(block, row);
    return { start, end: start + rowIn.entryBytes(block, row) };
  }

  /**
   * The row of the commit that introduces an object, undefined if none of the pack does; and
   * whether others do, too.
   */
  introducer(position: number): { commit: number | undefined; hasSeveral: boolean } {
    const { block, row } = this.at(position);
    const commit = rowIn.introducer(block, row);
    const hasSeveral = rowIn.hasSeveral(block, row);
    return { commit: commit === NO_COMMIT ? undefined : commit, hasSeveral };
  }

  /** The references of the objects that the commit of a row introduces. */
  introducedBy(commit: number): Uint32Array {
    const { history, layout, listStarts } = this.index;
    const { introducedStarts } = history;
    const count = (introducedStarts[commit + 1] as number) - (introducedStarts[commit] as number);
    const list = new Uint8Array(count * 4);
    const start = layout.listsAt + (listStarts[commit] as number) * 4;
    for (let at = 0; at < list.length;) {
      const block = Math.floor((start + at) / TABLE_BLOCK_BYTES);
      const from = start + at - block * TABLE_BLOCK_BYTES;
      const piece = this.block(block).subarray(from, from + list.length - at);
      list.set(piece, at);
      at += piece.length;
    }
    return new Uint32Array(list.buffer);
  }

  /**
   * Finds all commits whose lists have a reference, by one pass over the lists.
   *
   * @returns Rows of commits, and how many numbers were compared.
   */
  async scanIntroducing(ref: number): Promise<{ commits: number[]; numbers: number }> {
    const { layout, listStarts, history } = this.index;
    const rows = orderLists(history.generations);
    const found = new Set<number>();
    const { introduced } = layout.counts;
    for (let at = 0; at < introduced; at += SCANNED_NUMBERS) {
      const end = Math.min(introduced, at + SCANNED_NUMBERS);
      const bytes = await this.source.read(layout.listsAt + at * 4, layout.listsAt + end * 4);
      const numbers = new Uint32Array(new Uint8Array(bytes).buffer);
      for (let hit = numbers.indexOf(ref); hit >= 0; hit = numbers.indexOf(ref, hit + 1)) {
        found.add(findList(rows, listStarts, at + hit));
      }
    }
    return { commits: [...found], numbers: introduced };
  }

  /** The blocks in which the objects with these raw ids would be: their numbers in the file. */
  blocksOfOids(oids: Iterable<Uint8Array>): Set<number> {
    const blocks = new Set<number>();
    const first = this.index.layout.idsAt / TABLE_BLOCK_BYTES;
    for (const oid of oids) {
      if (this.index.findCommit(oid, 0) < 0) blocks.add(first + this.lastBlockOf(oid, 0));
    }
    return blocks;
  }

  /** The blocks in which the lists of these commits are. */
  blocksOfLists(commits: Iterable<number>): Set<number> {
    const blocks = new Set<number>();
    const { history, layout, listStarts } = this.index;
    const { introducedStarts } = history;
    for (const commit of commits) {
      const count = (introducedStarts[commit + 1] as number) - (introducedStarts[commit] as number);
      const start = layout.listsAt + (listStarts[commit] as number) * 4;
      const last = Math.floor((start + count * 4 - 1) / TABLE_BLOCK_BYTES);
      for (let at = Math.floor(start / TABLE_BLOCK_BYTES); at <= last; at++) blocks.add(at);
    }
    return blocks;
  }

  /** The blocks in which the rows of these positions are. */
  blocksOfPositions(positions: Iterable<number>): Set<number> {
    const blocks = new Set<number>();
    const first = this.index.layout.rowsAt / TABLE_BLOCK_BYTES;
    for (const position of positions) blocks.add(first + Math.floor(position / ROWS_PER_BLOCK));
    return blocks;
  }

  /**
   * Loads blocks by their numbers in the file, side by side; those that follow each other by one
   * read.
   */
  async load(blocks: Iterable<number>): Promise<void> {
    const missing = [...blocks].filter((block) => !this.pool.get(this.keyOf(block)));
    const loading: Promise<void>[] = [];
    const sorted = missing.toSorted((a, b) => a - b);
    for (let at = 0; at < sorted.length;) {
      const first = sorted[at] as number;
      let end = at + 1;
      while (sorted[end] === first + end - at && end - at < READ_TOGETHER) end++;
      const last = first + end - at;
      let reading: Promise<Uint8Array> | undefined;
      // Not read if another request for the same blocks is under way.
      const read = (): Promise<Uint8Array> => (reading ??= this.read(first, last));
      for (; at < end; at++) {
        const block = sorted[at] as number;
        const start = (block - first) * TABLE_BLOCK_BYTES;
        // A copy, or a block would hold the whole run in memory.
        const cut = async () => (await read()).slice(start, start + TABLE_BLOCK_BYTES);
        loading.push(this.pool.load(this.keyOf(block), cut));
      }
    }
    await Promise.all(loading);
  }

  /** The last block that may have the id. */
  private lastBlockOf(oid: Uint8Array, offset: number): number {
    const { firstIds } = this.index;
    const prefix = new DataView(oid.buffer, oid.byteOffset + offset, 4).getUint32(0);
    let low = 0;
    let high = firstIds.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((firstIds[middle] as number) <= prefix) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /**
   * The position of an object whose row is in a block that was used last, else -1. Objects that are
   * looked up one after the other are often neighbours in the pack, while their ids are in as many
   * blocks.
   */
  private findInLatestRows(oid: Uint8Array, offset: number): number {
    for (const at of this.latestRows) {
      const block = this.pool.get(this.keyOf(this.rowBlockNumber(at)));
      if (!block) continue;
      const first = at * ROWS_PER_BLOCK;
      const count = Math.min(ROWS_PER_BLOCK, this.count - first);
      for (let row = 0; row < count; row++) {
        if (compareOidBytes(block, rowIn.oidAt(row), oid, offset) === 0) return first + row;
      }
    }
    return -1;
  }

  private at(position: number): { block: Uint8Array; row: number } {
    const at = Math.floor(position / ROWS_PER_BLOCK);
    return { block: this.rowBlock(at), row: position - at * ROWS_PER_BLOCK };
  }

  private hasIdBlock(at: number): boolean {
    return this.pool.get(this.keyOf(this.idBlockNumber(at))) !== undefined;
  }

  private idBlock(at: number): Uint8Array {
    return this.block(this.idBlockNumber(at));
  }

  private rowBlock(at: number): Uint8Array {
    const block = this.block(this.rowBlockNumber(at));
    if (this.latestRows[0] !== at) {
      const known = this.latestRows.indexOf(at);
      this.latestRows.splice(known < 0 ? LATEST_ROWS - 1 : known, 1);
      this.latestRows.unshift(at);
    }
    return block;
  }

  private idBlockNumber(at: number): number {
    return this.index.layout.idsAt / TABLE_BLOCK_BYTES + at;
  }

  private rowBlockNumber(at: number): number {
    return this.index.layout.rowsAt / TABLE_BLOCK_BYTES + at;
  }

  private block(block: number): Uint8Array {
    const found = this.pool.get(this.keyOf(block));
    if (found) return found;
    throw new BlockMissing(() => this.load([block]));
  }

  private keyOf(block: number): string {
    return `${this.name}#${block}`;
  }

  /** Reads the blocks from `first` to `end`, which is exclusive. */
  private read(first: number, end: number): Promise<Uint8Array> {
    const { sizeBytes } = this.source;
    return this.source.read(
      first * TABLE_BLOCK_BYTES,
      Math.min(sizeBytes, end * TABLE_BLOCK_BYTES),
    );
  }
}

function hasNumber(sorted: Uint32Array, target: number): boolean {
  let low = 0;
  let high = sorted.length - 1;
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const found = sorted[middle] as number;
    if (found === target) return true;
    if (found < target) low = middle + 1;
    else high = middle - 1;
  }
  return false;
}

/** Blocks of rows that are searched for an object before the block of its id is read. */
const LATEST_ROWS = 4;

/** Blocks that are read at once, where they follow each other: 256 KB. */
const READ_TOGETHER = 4;

/** Numbers of the lists that are read at once when all are scanned: 1 MB. */
const SCANNED_NUMBERS = 256 * 1024;

/**
 * The row of the commit whose list has the number at `at`. @param rows In the order of the lists.
 */
function findList(rows: Uint32Array, starts: Uint32Array, at: number): number {
  let low = 0;
  let high = rows.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if ((starts[rows[middle] as number] as number) <= at) low = middle;
    else high = middle - 1;
  }
  return rows[low] as number;
}
