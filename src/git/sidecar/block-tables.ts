import { corrupt } from "../error.ts";
import { OID_BYTES } from "../oid.ts";
import type { IdxFile } from "../pack/idx-file.ts";
import { countsOf, layoutOf, type Sidecar, type SidecarCounts } from "./sidecar-file.ts";

/** Size of a block, in bytes. Rows and lists begin at a multiple of it, so that a row is in one block. */
export const TABLE_BLOCK_BYTES = 64 * 1024;
/**
 * Objects from which on a pack has block tables. The tables of a smaller one are read whole: at most 6 MB, which costs
 * fewer round trips.
 */
export const BLOCK_TABLES_MIN = 100_000;

const MAGIC = 0x45464254;
const VERSION = 1;
/** Magic, version, and the sidecar's length and six counts, four bytes each, except for the length with eight. */
const TRAILER_BYTES = 4 + 4 + 8 + 6 * 4;

/** Size of an object's row: see `formatRow`. */
const ROW_BYTES = 48;
export const ROWS_PER_BLOCK = Math.floor(TABLE_BLOCK_BYTES / ROW_BYTES);
/** Marks an object that no commit of the pack introduces. */
export const NO_COMMIT = 0xffffffff;
/** Flag of an object that several commits introduce. */
const SEVERAL = 1;

/** Where the block tables are in their file, which follows from the counts. */
export interface BlockLayout {
  readonly counts: SidecarCounts;
  /** Length of the sidecar before them, in bytes. */
  readonly sidecarBytes: number;
  readonly rowsAt: number;
  readonly rowBlocks: number;
  /** Lists of introduced objects, those of the commits with the highest generations first. */
  readonly listsAt: number;
  /** Raw ids of the commits, in the order of the sidecar. */
  readonly commitOidsAt: number;
  /** The first four bytes of each block's first id. */
  readonly firstIdsAt: number;
  readonly fileBytes: number;
}

const upToBlock = (bytes: number): number =>
  Math.ceil(bytes / TABLE_BLOCK_BYTES) * TABLE_BLOCK_BYTES;

export function blockLayout(counts: SidecarCounts): BlockLayout {
  const { sidecarBytes } = layoutOf(counts);
  const rowsAt = upToBlock(sidecarBytes);
  const rowBlocks = Math.ceil(counts.objects / ROWS_PER_BLOCK);
  const listsAt = rowsAt + rowBlocks * TABLE_BLOCK_BYTES;
  const commitOidsAt = upToBlock(listsAt + counts.introduced * 4);
  const firstIdsAt = commitOidsAt + counts.commits * OID_BYTES;
  const fileBytes = firstIdsAt + rowBlocks * 4 + TRAILER_BYTES;
  return {
    counts,
    sidecarBytes,
    rowsAt,
    rowBlocks,
    listsAt,
    commitOidsAt,
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
  const layout = blockLayout({
    objects: count(0),
    outside: count(1),
    commits: count(2),
    parents: count(3),
    introduced: count(4),
    tags: count(5),
  });
  const isSame = Number(view.getBigUint64(8, true)) === layout.sidecarBytes;
  if (!isSame || layout.fileBytes !== fileBytes) throw corrupt("sidecar: of another length");
  return layout;
}

/** The rows of commits, those of the highest generations first: recent history is in few blocks so. */
export function byGeneration(generations: Uint32Array): Uint32Array {
  let highest = 0;
  for (const generation of generations) highest = Math.max(highest, generation);
  const starts = new Uint32Array(highest + 2);
  for (const generation of generations) (starts[highest - generation + 1] as number)++;
  for (let at = 1; at < starts.length; at++)
    (starts[at] as number) += starts[at - 1] as number;
  const rows = new Uint32Array(generations.length);
  for (const [row, generation] of generations.entries()) {
    const slot = highest - generation;
    rows[starts[slot] as number] = row;
    (starts[slot] as number)++;
  }
  return rows;
}

/**
 * The commit that introduces each object, the one of the highest generation if there are several, and which objects have
 * several.
 */
function findIntroducers(sidecar: Sidecar): { rows: Uint32Array; several: Uint8Array } {
  const { introduced, introducedStarts, generations } = sidecar;
  const count = sidecar.kinds.length;
  const rows = new Uint32Array(count).fill(NO_COMMIT);
  const several = new Uint8Array(Math.ceil(count / 8));
  for (let row = 0; row < generations.length; row++) {
    const end = introducedStarts[row + 1] as number;
    for (let at = introducedStarts[row] as number; at < end; at++) {
      const ref = introduced[at] as number;
      if (ref >= count) continue;
      const former = rows[ref] as number;
      if (former !== NO_COMMIT) (several[ref >>> 3] as number) |= 1 << (ref & 7);
      const isNewer =
        former === NO_COMMIT || (generations[former] as number) < (generations[row] as number);
      if (isNewer) rows[ref] = row;
    }
  }
  return { rows, several };
}

/**
 * The block tables that follow a sidecar in its file, in pieces: for each object one row with all that is known of it, and
 * the lists of introduced objects in an order in which those of recent commits are together.
 *
 * The sidecar itself stays as it is, for those who read it whole. Memory: 16 bytes an object.
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
  yield new Uint8Array(layout.rowsAt - layout.sidecarBytes);
  const introducers = findIntroducers(sidecar);
  const firstIds = new Uint8Array(layout.rowBlocks * 4);
  const findEnd = endFinder(idx, packBytes - OID_BYTES);
  for (let block = 0; block < layout.rowBlocks; block++) {
    const bytes = new Uint8Array(TABLE_BLOCK_BYTES);
    const first = block * ROWS_PER_BLOCK;
    const last = Math.min(counts.objects, first + ROWS_PER_BLOCK);
    const ids = idx.oids.subarray(first * OID_BYTES, last * OID_BYTES);
    firstIds.set(ids.subarray(0, 4), block * 4);
    for (let position = first; position < last; position++) {
      const offset = idx.offset(position);
      const hasSeveral = ((introducers.several[position >>> 3] as number) >>> (position & 7)) & 1;
      formatRow(bytes, position - first, {
        oid: ids.subarray((position - first) * OID_BYTES, (position - first + 1) * OID_BYTES),
        offset,
        entryBytes: findEnd(offset) - offset,
        sizeBytes: sidecar.sizes[position] as number,
        base: sidecar.bases[position] as number,
        introducer: introducers.rows[position] as number,
        kind: sidecar.kinds[position] as number,
        flags: hasSeveral * SEVERAL,
      });
    }
    yield bytes;
  }
  yield* formatLists(sidecar);
  const listBytes = layout.commitOidsAt - layout.listsAt - counts.introduced * 4;
  yield new Uint8Array(listBytes);
  yield collectOids(idx.oids, sidecar.commits);
  yield firstIds;
  yield formatTrailer(layout);
}

/** Returns the end of the entry that starts at an offset. */
function endFinder(idx: IdxFile, packEnd: number): (offset: number) => number {
  const offsets = new Float64Array(idx.count);
  for (let position = 0; position < idx.count; position++) offsets[position] = idx.offset(position);
  offsets.sort();
  return (offset) => {
    let low = 0;
    let high = offsets.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((offsets[middle] as number) <= offset) low = middle + 1;
      else high = middle;
    }
    return offsets[low] ?? packEnd;
  };
}

function* formatLists({
  generations,
  introduced,
  introducedStarts,
}: Sidecar): Generator<Uint8Array> {
  for (const row of byGeneration(generations)) {
    const list = introduced.slice(introducedStarts[row], introducedStarts[row + 1]);
    if (list.length > 0) yield new Uint8Array(list.buffer);
  }
}

function collectOids(oids: Uint8Array, positions: Uint32Array): Uint8Array {
  const collected = new Uint8Array(positions.length * OID_BYTES);
  for (const [row, position] of positions.entries()) {
    const oid = oids.subarray(position * OID_BYTES, (position + 1) * OID_BYTES);
    collected.set(oid, row * OID_BYTES);
  }
  return collected;
}

function formatTrailer({ counts, sidecarBytes }: BlockLayout): Uint8Array {
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

interface Row {
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
 * Writes a row: the id; offset and length of the entry and size of the object, six bytes each; base and introducing
 * commit, four each; kind and flags. Numbers are little-endian.
 */
function formatRow(block: Uint8Array, row: number, values: Row): void {
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

const getUint48 = (bytes: Uint8Array, at: number): number =>
  getUint32(bytes, at) + ((bytes[at + 4] as number) | ((bytes[at + 5] as number) << 8)) * 2 ** 32;

const getUint32 = (bytes: Uint8Array, at: number): number =>
  ((bytes[at] as number) |
    ((bytes[at + 1] as number) << 8) |
    ((bytes[at + 2] as number) << 16) |
    ((bytes[at + 3] as number) << 24)) >>>
  0;

/** The rows of a block, by their number in it. */
export const rowIn = {
  oidAt: (row: number): number => row * ROW_BYTES,
  offset: (block: Uint8Array, row: number): number => getUint48(block, row * ROW_BYTES + 20),
  entryBytes: (block: Uint8Array, row: number): number => getUint48(block, row * ROW_BYTES + 26),
  sizeBytes: (block: Uint8Array, row: number): number => getUint48(block, row * ROW_BYTES + 32),
  /** -1 for an object stored whole. */
  base: (block: Uint8Array, row: number): number => getUint32(block, row * ROW_BYTES + 38) | 0,
  introducer: (block: Uint8Array, row: number): number => getUint32(block, row * ROW_BYTES + 42),
  kind: (block: Uint8Array, row: number): number => block[row * ROW_BYTES + 46] as number,
  hasSeveral: (block: Uint8Array, row: number): boolean =>
    ((block[row * ROW_BYTES + 47] as number) & SEVERAL) !== 0,
} as const;
