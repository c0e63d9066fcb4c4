import type { BlockIndex } from "../catalog/object-blocks.ts";
import { OID_BYTES } from "../oid.ts";
import {
  ID_ROW_BYTES,
  IDS_PER_BLOCK,
  readNumber,
  ROW_BYTES,
  rowIn,
  ROWS_PER_BLOCK,
} from "../sidecar/block-tables.ts";
import type { Sidecar } from "../sidecar/sidecar-file.ts";
import type { ByteSource } from "../store.ts";
import { TableReader } from "./table-reader.ts";

/**
 * Reads the sidecar of a pack from its block tables, for the file of a joined pack, which has no
 * other.
 *
 * Cost: one pass over the tables. Memory: the sidecar, and eight bytes for each object.
 *
 * @param file     The file of the block tables.
 * @param checksum The pack's trailing hash, hex.
 */
export async function readWholeSidecar(
  index: BlockIndex,
  file: ByteSource,
  checksum: string,
): Promise<Sidecar> {
  const { layout, history } = index;
  const { objects, introduced: introducedCount } = layout.counts;
  const positions = await readPositions(index, file);
  const positionOf = (ref: number): number => (ref < objects ? (positions[ref] as number) : ref);

  const kinds = new Uint8Array(objects);
  const sizes = new Float64Array(objects);
  const bases = new Int32Array(objects);
  const shape = { rowBytes: ROW_BYTES, rowsPerBlock: ROWS_PER_BLOCK, count: objects };
  const rows = new TableReader(file, { at: layout.rowsAt, ...shape });
  for (let number = 0; number < objects; number++) {
    if (!rows.has(number)) await rows.load(number);
    const block = rows.bytes.subarray(rows.offsetOf(number));
    const position = positions[number] as number;
    const base = rowIn.base(block, 0);
    kinds[position] = rowIn.kind(block, 0);
    sizes[position] = rowIn.sizeBytes(block, 0);
    bases[position] = base < 0 ? -1 : (positions[base] as number);
  }

  const lists = new TableReader(file, { at: layout.listsAt, rowBytes: 4, count: introducedCount });
  const stored = new Uint32Array(introducedCount);
  for (let at = 0; at < introducedCount; at++) {
    if (!lists.has(at)) await lists.load(at);
    stored[at] = positionOf(readNumber(lists.bytes, lists.offsetOf(at)));
  }

  const commitRows = byPosition(history.commits, positions);
  const tagRows = byPosition(history.tags, positions);
  const parentStarts = new Uint32Array(commitRows.length + 1);
  const introducedStarts = new Uint32Array(commitRows.length + 1);
  const parents = new Uint32Array(history.parents.length);
  const introduced = new Uint32Array(introducedCount);
  for (const [commit, row] of commitRows.entries()) {
    const own = history.parents.subarray(history.parentStarts[row], history.parentStarts[row + 1]);
    const parentStart = parentStarts[commit] as number;
    parents.set(own.map(positionOf), parentStart);
    parentStarts[commit + 1] = parentStart + own.length;
    const count =
      (history.introducedStarts[row + 1] as number) - (history.introducedStarts[row] as number);
    const from = index.listStarts[row] as number;
    const start = introducedStarts[commit] as number;
    introduced.set(stored.subarray(from, from + count), start);
    introducedStarts[commit + 1] = start + count;
  }
  return {
    packChecksum: checksum,
    kinds,
    sizes,
    bases,
    outsideOids: history.outsideOids,
    commits: commitRows.map((row) => positionOf(history.commits[row] as number)),
    roots: commitRows.map((row) => positionOf(history.roots[row] as number)),
    times: Float64Array.from(commitRows, (row) => history.times[row] as number),
    generations: commitRows.map((row) => history.generations[row] as number),
    parentStarts,
    parents,
    introducedStarts,
    introduced,
    tags: tagRows.map((row) => positionOf(history.tags[row] as number)),
    tagTargets: tagRows.map((row) => positionOf(history.tagTargets[row] as number)),
  };
}

/** The position in the index of each object, by its number in the pack. */
async function readPositions({ layout }: BlockIndex, file: ByteSource): Promise<Uint32Array> {
  const count = layout.counts.objects;
  const shape = { rowBytes: ID_ROW_BYTES, rowsPerBlock: IDS_PER_BLOCK, count };
  const ids = new TableReader(file, { at: layout.idsAt, ...shape });
  const positions = new Uint32Array(count);
  for (let position = 0; position < count; position++) {
    if (!ids.has(position)) await ids.load(position);
    positions[readNumber(ids.bytes, ids.offsetOf(position) + OID_BYTES)] = position;
  }
  return positions;
}

/** The rows of a table of objects, in the order of the objects' positions. */
function byPosition(numbers: Uint32Array, positions: Uint32Array): Uint32Array {
  const positionAt = (row: number): number => positions[numbers[row] as number] as number;
  return Uint32Array.from(numbers, (_, row) => row).toSorted(
    (a, b) => positionAt(a) - positionAt(b),
  );
}
