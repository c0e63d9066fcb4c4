import { corrupt } from "../error.ts";
import { OID_BYTES } from "../oid.ts";
import type { IdxFile } from "../pack/idx-file.ts";
import {
  countsOf,
  type HistoryTables,
  type Sidecar,
  type SidecarCounts,
  sidecarLength,
} from "./sidecar-file.ts";

/** Size of a block, in bytes. Tables begin at a multiple of it, so that a row is in one block. */
export const TABLE_BLOCK_BYTES = 64 * 1024;
/**
 * Objects from which on a pack has block tables. The tables of a smaller one are read whole: at
 * most 6 MB, which costs fewer round trips.
 */
export const BLOCK_TABLES_MIN = 100_000;

const MAGIC = 0x45464254;
const VERSION = 1;
/**
 * Magic, version, the length of the sidecar in eight bytes, and its six counts, four bytes each.
 */
const TRAILER_BYTES = 4 + 4 + 8 + 6 * 4;

/** Size of an object's row: see `formatRow`. */
export const ROW_BYTES = 48;
export const ROWS_PER_BLOCK = Math.floor(TABLE_BLOCK_BYTES / ROW_BYTES);
/** An id and the number of its object. */
export const ID_ROW_BYTES = OID_BYTES + 4;
export const IDS_PER_BLOCK = Math.floor(TABLE_BLOCK_BYTES / ID_ROW_BYTES);
/** Marks an object that no commit of the pack introduces. */
export const NO_COMMIT = 0xffffffff;
/** Flag of an object that several commits introduce. */
export const SEVERAL = 1;

/** The offsets of the block tables in their file, computed from the counts. */
export interface BlockLayout {
  readonly counts: SidecarCounts;
  /** Length of the sidecar before them, in bytes; 0 for a joined pack, whose file has none. */
  readonly sidecarBytes: number;
  /** A row for each object, in pack order. */
  readonly rowsAt: number;
  /** The number of each object, by id. */
  readonly idsAt: number;
  readonly idBlocks: number;
  /** Lists of introduced objects, those of the commits with the highest generations first. */
  readonly listsAt: number;
  /**
   * The parts held in memory: `HISTORY`, the ids of commits, and the first four bytes of each
   * block's first id.
   */
  readonly historyAt: number;
  readonly firstIdsAt: number;
  readonly fileBytes: number;
}

/**
 * The arrays of history in the file: field, size of an element in bytes, and number of elements.
 */
const historySections = (
  counts: SidecarCounts,
): readonly (readonly [keyof PackHistory, 1 | 4 | 8, number])[] => [
  ["times", 8, counts.commits],
  ["commits", 4, counts.commits],
  ["roots", 4, counts.commits],
  ["generations", 4, counts.commits],
  ["parentStarts", 4, counts.commits + 1],
  ["parents", 4, counts.parents],
  ["introducedStarts", 4, counts.commits + 1],
  ["tags", 4, counts.tags],
  ["tagTargets", 4, counts.tags],
  ["outsideOids", 1, counts.outside * OID_BYTES],
  ["commitOids", 1, counts.commits * OID_BYTES],
];

/**
 * The history of a pack whose objects are numbered in pack order: `HistoryTables` with these
 * numbers for positions in the index, and the ids of its commits.
 */
export interface PackHistory extends HistoryTables {
  /** Raw ids, 20 bytes each, in the order of `commits`. */
  readonly commitOids: Uint8Array;
}

const upToBlock = (bytes: number): number =>
  Math.ceil(bytes / TABLE_BLOCK_BYTES) * TABLE_BLOCK_BYTES;

/** @param sidecarBytes 0 for a file without a sidecar. */
export function blockLayout(
  counts: SidecarCounts,
  sidecarBytes = sidecarLength(counts),
): BlockLayout {
  const rowsAt = upToBlock(sidecarBytes);
  const rowBlocks = Math.ceil(counts.objects / ROWS_PER_BLOCK);
  const idsAt = rowsAt + rowBlocks * TABLE_BLOCK_BYTES;
  const idBlocks = Math.ceil(counts.objects / IDS_PER_BLOCK);
  const listsAt = idsAt + idBlocks * TABLE_BLOCK_BYTES;
  const historyAt = upToBlock(listsAt + counts.introduced * 4);
  const historyBytes = historySections(counts).reduce((sum, [, size, n]) => sum + size * n, 0);
  const firstIdsAt = historyAt + historyBytes;
  const fileBytes = firstIdsAt + idBlocks * 4 + TRAILER_BYTES;
  return {
    counts,
    sidecarBytes,
    rowsAt,
    idsAt,
    idBlocks,
    listsAt,
    historyAt,
    firstIdsAt,
    fileBytes,
  };
}

/**
 * Reads the layout from the end of a file.
 *
 * @returns Undefined if the file has no block tables.
 * @throws GitError `corrupt` if its length is another one.
 */
export function readBlockLayout(tail: Uint8Array, fileBytes: number): BlockLayout | undefined {
  if (tail.length < TRAILER_BYTES) return undefined;
  const start = tail.byteOffset + tail.length - TRAILER_BYTES;
  const view = new DataView(tail.buffer, start, TRAILER_BYTES);
  if (view.getUint32(0) !== MAGIC || view.getUint32(4, true) !== VERSION) return undefined;
  const count = (index: number): number => view.getUint32(16 + 4 * index, true);
  const counts = {
    objects: count(0),
    outside: count(1),
    commits: count(2),
    parents: count(3),
    introduced: count(4),
    tags: count(5),
  };
  const sidecarBytes = Number(view.getBigUint64(8, true));
  const layout = blockLayout(counts, sidecarBytes === 0 ? 0 : undefined);
  if (sidecarBytes !== layout.sidecarBytes || layout.fileBytes !== fileBytes)
    throw corrupt("sidecar: of another length");
  return layout;
}

/** Parses history: the bytes of a file from `historyAt` on. The arrays are views of one copy. */
export function parseHistory({ counts }: BlockLayout, bytes: Uint8Array): PackHistory {
  const { buffer } = new Uint8Array(bytes);
  let at = 0;
  const arrays = historySections(counts).map(([name, size, length]) => {
    const start = at;
    at += size * length;
    if (size === 8) return [name, new Float64Array(buffer, start, length)] as const;
    if (size === 4) return [name, new Uint32Array(buffer, start, length)] as const;
    return [name, new Uint8Array(buffer, start, length)] as const;
  });
  return Object.fromEntries(arrays) as never;
}

/**
 * The rows of commits, those of the highest generations first: recent history is in few blocks so.
 */
export function orderLists(generations: Uint32Array): Uint32Array {
  let highest = 0;
  for (const generation of generations) highest = Math.max(highest, generation);
  const starts = new Uint32Array(highest + 2);
  for (const generation of generations) (starts[highest - generation + 1] as number)++;
  for (let at = 1; at < starts.length; at++) {
    (starts[at] as number) += starts[at - 1] as number;
  }
  const rows = new Uint32Array(generations.length);
  for (const [row, generation] of generations.entries()) {
    const slot = highest - generation;
    rows[starts[slot] as number] = row;
    (starts[slot] as number)++;
  }
  return rows;
}

/**
 * The block tables that follow a sidecar in its file, in pieces: for each object one row with all
 * that is known of it, a table of ids, and the lists of introduced objects.
 *
 * Objects are numbered in pack order, in which the trees of neighbouring commits are together, and
 * so are their rows. The sidecar itself stays as it is, for those who read it whole. Memory: 21
 * bytes an object, and 60 a commit.
 *
 * @param packBytes Length of the pack.
 */
export function* formatBlockTables(
  sidecar: Sidecar,
  idx: IdxFile,
  packBytes: number,
): Generator<Uint8Array> {
  const counts = countsOf(sidecar);
  const layout = blockLayout(counts);
  const order = new PackOrder(idx, packBytes - OID_BYTES);
  const { history, rows } = orderHistory(sidecar, idx, order);
  yield new Uint8Array(layout.rowsAt - layout.sidecarBytes);
  yield* formatRows(sidecar, idx, order, findIntroducers(sidecar, rows));
  const firstIds = new Uint8Array(layout.idBlocks * 4);
  for (let block = 0; block < layout.idBlocks; block++) {
    const bytes = new Uint8Array(TABLE_BLOCK_BYTES);
    const view = new DataView(bytes.buffer);
    const first = block * IDS_PER_BLOCK;
    const last = Math.min(counts.objects, first + IDS_PER_BLOCK);
    for (let position = first; position < last; position++) {
      const at = (position - first) * ID_ROW_BYTES;
      bytes.set(idx.oids.subarray(position * OID_BYTES, (position + 1) * OID_BYTES), at);
      view.setUint32(at + OID_BYTES, order.numberOf(position), true);
    }
    firstIds.set(bytes.subarray(0, 4), block * 4);
    yield bytes;
  }
  for (const row of orderLists(history.generations)) {
    const own = rows[row] as number;
    const { introduced, introducedStarts } = sidecar;
    const list = introduced.slice(introducedStarts[own], introducedStarts[own + 1]);
    if (list.length > 0) yield new Uint8Array(order.mapRefs(list).buffer);
  }
  yield new Uint8Array(layout.historyAt - layout.listsAt - counts.introduced * 4);
  yield* formatHistory(layout, history);
  yield firstIds;
  yield formatTrailer(layout);
}

/** The history of a file, in pieces. */
export function* formatHistory(
  { counts }: BlockLayout,
  history: PackHistory,
): Generator<Uint8Array> {
  for (const [name] of historySections(counts)) {
    const { buffer, byteOffset, byteLength } = history[name];
    yield new Uint8Array(buffer, byteOffset, byteLength);
  }
}

/** The objects of a pack in the order of their entries: 12 bytes each. */
class PackOrder {
  /** The position in the index of each object. */
  readonly positions: Uint32Array;
  private readonly offsets: Float64Array;
  private readonly idx: IdxFile;
  private readonly packEnd: number;

  constructor(idx: IdxFile, packEnd: number) {
    this.idx = idx;
    this.packEnd = packEnd;
    this.offsets = idx.sortedOffsets;
    this.positions = new Uint32Array(idx.count);
    for (let position = 0; position < idx.count; position++) {
      this.positions[this.numberOf(position)] = position;
    }
  }

  /** The number of the object at a position. */
  numberOf(position: number): number {
    const offset = this.idx.offset(position);
    let low = 0;
    let high = this.offsets.length - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.offsets[middle] as number) < offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  start(number: number): number {
    return this.offsets[number] as number;
  }

  end(number: number): number {
    return this.offsets[number + 1] ?? this.packEnd;
  }

  /** Maps references to objects, in place. */
  mapRefs(refs: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
    for (const [at, ref] of refs.entries()) {
      if (ref < this.idx.count) refs[at] = this.numberOf(ref);
    }
    return refs;
  }
}

/** History in pack order, and for each of its rows the one of the sidecar. */
function orderHistory(
  sidecar: Sidecar,
  idx: IdxFile,
  order: PackOrder,
): { history: PackHistory; rows: Uint32Array } {
  const numbers = order.mapRefs(sidecar.commits.slice());
  const rows = numbers
    .map((_, row) => row)
    .toSorted((a, b) => (numbers[a] as number) - (numbers[b] as number));
  const tagNumbers = order.mapRefs(sidecar.tags.slice());
  const tagRows = tagNumbers
    .map((_, row) => row)
    .toSorted((a, b) => (tagNumbers[a] as number) - (tagNumbers[b] as number));
  const commitOids = new Uint8Array(rows.length * OID_BYTES);
  const parentStarts = new Uint32Array(rows.length + 1);
  const introducedStarts = new Uint32Array(rows.length + 1);
  const parents = new Uint32Array(sidecar.parents.length);
  for (const [row, from] of rows.entries()) {
    const position = sidecar.commits[from] as number;
    commitOids.set(
      idx.oids.subarray(position * OID_BYTES, (position + 1) * OID_BYTES),
      row * OID_BYTES,
    );
    const own = sidecar.parents.slice(sidecar.parentStarts[from], sidecar.parentStarts[from + 1]);
    parents.set(order.mapRefs(own), parentStarts[row]);
    parentStarts[row + 1] = (parentStarts[row] as number) + own.length;
    const listed =
      (sidecar.introducedStarts[from + 1] as number) - (sidecar.introducedStarts[from] as number);
    introducedStarts[row + 1] = (introducedStarts[row] as number) + listed;
  }
  const history = {
    times: Float64Array.from(rows, (row) => sidecar.times[row] as number),
    commits: rows.map((row) => numbers[row] as number),
    roots: order.mapRefs(rows.map((row) => sidecar.roots[row] as number)),
    generations: rows.map((row) => sidecar.generations[row] as number),
    parentStarts,
    parents,
    introducedStarts,
    tags: tagRows.map((row) => tagNumbers[row] as number),
    tagTargets: order.mapRefs(tagRows.map((row) => sidecar.tagTargets[row] as number)),
    outsideOids: sidecar.outsideOids,
    commitOids,
  };
  return { history, rows };
}

/**
 * By position, the row of the commit that introduces each object; and which objects several commits
 * introduce.
 */
interface Introducers {
  readonly rows: Uint32Array;
  readonly several: Uint8Array;
}

/**
 * Finds the commit that introduces each object, the one of the highest generation if there are
 * several.
 *
 * @param rows The row of the sidecar for each row of the block tables.
 */
function findIntroducers(sidecar: Sidecar, rows: Uint32Array): Introducers {
  const { introduced, introducedStarts, generations } = sidecar;
  const count = sidecar.kinds.length;
  const found = new Uint32Array(count).fill(NO_COMMIT);
  const several = new Uint8Array(Math.ceil(count / 8));
  for (const [row, from] of rows.entries()) {
    const end = introducedStarts[from + 1] as number;
    for (let at = introducedStarts[from] as number; at < end; at++) {
      const ref = introduced[at] as number;
      if (ref >= count) continue;
      const former = found[ref] as number;
      if (former !== NO_COMMIT) (several[ref >>> 3] as number) |= 1 << (ref & 7);
      const isNewer =
        former === NO_COMMIT ||
        (generations[rows[former] as number] as number) < (generations[from] as number);
      if (isNewer) found[ref] = row;
    }
  }
  return { rows: found, several };
}

function* formatRows(
  sidecar: Sidecar,
  idx: IdxFile,
  order: PackOrder,
  introducers: Introducers,
): Generator<Uint8Array> {
  for (let first = 0; first < idx.count; first += ROWS_PER_BLOCK) {
    const bytes = new Uint8Array(TABLE_BLOCK_BYTES);
    const last = Math.min(idx.count, first + ROWS_PER_BLOCK);
    for (let number = first; number < last; number++) {
      const position = order.positions[number] as number;
      const hasSeveral = ((introducers.several[position >>> 3] as number) >>> (position & 7)) & 1;
      const base = sidecar.bases[position] as number;
      formatRow(bytes, number - first, {
        oid: idx.oids.subarray(position * OID_BYTES, (position + 1) * OID_BYTES),
        offset: order.start(number),
        entryBytes: order.end(number) - order.start(number),
        sizeBytes: sidecar.sizes[position] as number,
        base: base < 0 ? -1 : order.numberOf(base),
        introducer: introducers.rows[position] as number,
        kind: sidecar.kinds[position] as number,
        flags: hasSeveral * SEVERAL,
      });
    }
    yield bytes;
  }
}

export function formatTrailer({ counts, sidecarBytes }: BlockLayout): Uint8Array {
  const bytes = new Uint8Array(TRAILER_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, MAGIC);
  view.setUint32(4, VERSION, true);
  view.setBigUint64(8, BigInt(sidecarBytes), true);
  const { objects, outside, commits, parents, introduced, tags } = counts;
  for (const [index, count] of [objects, outside, commits, parents, introduced, tags].entries()) {
    view.setUint32(16 + 4 * index, count, true);
  }
  return bytes;
}

export interface TableRow {
  readonly oid: Uint8Array;
  readonly offset: number;
  readonly entryBytes: number;
  readonly sizeBytes: number;
  readonly base: number;
  readonly introducer: number;
  readonly kind: number;
  readonly flags: number;
}

/**
 * Writes a row: the id; offset and length of the entry and size of the object, six bytes each; base
 * and introducing commit, four each; kind and flags. Numbers are little-endian.
 */
export function formatRow(block: Uint8Array, row: number, values: TableRow): void {
  const at = row * ROW_BYTES;
  const view = new DataView(block.buffer, block.byteOffset + at, ROW_BYTES);
  block.set(values.oid, at);
  setUint48(view, 20, values.offset);
  setUint48(view, 26, values.entryBytes);
  setUint48(view, 32, values.sizeBytes);
  view.setInt32(38, values.base, true);
  view.setUint32(42, values.introducer, true);
  view.setUint8(46, values.kind);
  view.setUint8(47, values.flags);
}

function setUint48(view: DataView, at: number, value: number): void {
  view.setUint32(at, value % 2 ** 32, true);
  view.setUint16(at + 4, Math.floor(value / 2 ** 32), true);
}

/** The four bytes at `at` as a number, little-endian. */
export const readNumber = (bytes: Uint8Array, at: number): number =>
  ((bytes[at] as number) |
    ((bytes[at + 1] as number) << 8) |
    ((bytes[at + 2] as number) << 16) |
    ((bytes[at + 3] as number) << 24)) >>>
  0;

const getUint48 = (bytes: Uint8Array, at: number): number =>
  readNumber(bytes, at) + ((bytes[at + 4] as number) | ((bytes[at + 5] as number) << 8)) * 2 ** 32;

/** The rows of a block, by their number in it. */
export const rowIn = {
  oidAt: (row: number): number => row * ROW_BYTES,
  offset: (block: Uint8Array, row: number): number => getUint48(block, row * ROW_BYTES + 20),
  entryBytes: (block: Uint8Array, row: number): number => getUint48(block, row * ROW_BYTES + 26),
  sizeBytes: (block: Uint8Array, row: number): number => getUint48(block, row * ROW_BYTES + 32),
  /** -1 for an object stored whole. */
  base: (block: Uint8Array, row: number): number => readNumber(block, row * ROW_BYTES + 38) | 0,
  introducer: (block: Uint8Array, row: number): number => readNumber(block, row * ROW_BYTES + 42),
  kind: (block: Uint8Array, row: number): number => block[row * ROW_BYTES + 46] as number,
  hasSeveral: (block: Uint8Array, row: number): boolean =>
    ((block[row * ROW_BYTES + 47] as number) & SEVERAL) !== 0,
} as const;
