import type { ObjectBlocks } from "../catalog/object-blocks.ts";
import { overLimit } from "../error.ts";
import { OID_BYTES } from "../oid.ts";
import type { PackHistory } from "../sidecar/block-tables.ts";
import { NumberList } from "../sidecar/number-list.ts";
import type { JoinPart, JoinPlan } from "./join-plan.ts";

/** Bounds of a row's key: the number of an object, a part, and a row of it. */
const OBJECTS_MAX = 2 ** 24;
const PART_SCALE = 2 ** 7;
const ROWS_MAX = 2 ** 22;

/**
 * The rows of a joined pack's table, in the order of their objects: the part and the row from which
 * each is taken.
 */
interface SourceRows {
  readonly numbers: Uint32Array;
  readonly parts: Uint8Array;
  readonly rows: Uint32Array;
}

/** The history of a joined pack. */
export interface JoinedHistory {
  readonly history: PackHistory;
  readonly commits: SourceRows;
  /** For each part the row of each of its commits in the joined pack. */
  readonly rowsOfParts: readonly Uint32Array[];
}

/**
 * Joins the tables of history, which are in memory. A commit or tag is taken from the oldest part
 * that has a row for it: the base of a delta that completes a thin pack has none there.
 */
export function joinHistory(plan: JoinPlan): JoinedHistory {
  const commits = collectRows(plan, (blocks) => blocks.index.history.commits);
  const tags = collectRows(plan, (blocks) => blocks.index.history.tags);
  const count = commits.numbers.length;
  const times = new Float64Array(count);
  const roots = new Uint32Array(count);
  const generations = new Uint32Array(count);
  const parentStarts = new Uint32Array(count + 1);
  const introducedStarts = new Uint32Array(count + 1);
  const commitOids = new Uint8Array(count * OID_BYTES);
  const parents = new NumberList();
  for (let commit = 0; commit < count; commit++) {
    const part = commits.parts[commit] as number;
    const row = commits.rows[commit] as number;
    const own = historyOf(plan, part);
    times[commit] = own.times[row] as number;
    generations[commit] = own.generations[row] as number;
    roots[commit] = plan.refOf(part, own.roots[row] as number);
    const end = own.parentStarts[row + 1] as number;
    for (let at = own.parentStarts[row] as number; at < end; at++) {
      parents.push(plan.refOf(part, own.parents[at] as number));
    }
    parentStarts[commit + 1] = parents.length;
    const listed =
      (own.introducedStarts[row + 1] as number) - (own.introducedStarts[row] as number);
    introducedStarts[commit + 1] = (introducedStarts[commit] as number) + listed;
    const oid = own.commitOids.subarray(row * OID_BYTES, (row + 1) * OID_BYTES);
    commitOids.set(oid, commit * OID_BYTES);
  }
  const tagTargets = tags.numbers.map((_, tag) => {
    const part = tags.parts[tag] as number;
    const targets = historyOf(plan, part).tagTargets;
    return plan.refOf(part, targets[tags.rows[tag] as number] as number);
  });
  const history: PackHistory = {
    times,
    commits: commits.numbers,
    roots,
    generations,
    parentStarts,
    parents: parents.view().slice(),
    introducedStarts,
    tags: tags.numbers,
    tagTargets,
    outsideOids: plan.outside.oids.slice(0, plan.outside.count * OID_BYTES),
    commitOids,
  };
  return { history, commits, rowsOfParts: mapRows(plan, commits.numbers) };
}

const historyOf = (plan: JoinPlan, part: number): PackHistory =>
  (plan.parts[part] as JoinPart).blocks.index.history;

function collectRows(plan: JoinPlan, numbersOf: (blocks: ObjectBlocks) => Uint32Array): SourceRows {
  const all = plan.parts.map(({ blocks }) => numbersOf(blocks));
  const keys = new Float64Array(all.reduce((sum, { length }) => sum + length, 0));
  if (plan.count > OBJECTS_MAX) throw overLimit("too many objects to join");
  let filled = 0;
  for (const [part, numbers] of all.entries()) {
    if (numbers.length > ROWS_MAX) throw overLimit("too many commits to join");
    for (const [row, number] of numbers.entries()) {
      keys[filled++] = (plan.numberOf(part, number) * PART_SCALE + part) * ROWS_MAX + row;
    }
  }
  keys.sort();
  const objectOf = (key: number): number => Math.floor(key / (PART_SCALE * ROWS_MAX));
  // Of several rows of an object, that of the oldest part is first.
  const kept = keys.filter((key, at) => at === 0 || objectOf(key) !== objectOf(keys[at - 1] ?? 0));
  return {
    numbers: Uint32Array.from(kept, objectOf),
    parts: Uint8Array.from(kept, (key) => Math.floor(key / ROWS_MAX) % PART_SCALE),
    rows: Uint32Array.from(kept, (key) => key % ROWS_MAX),
  };
}

function mapRows(plan: JoinPlan, numbers: Uint32Array): Uint32Array[] {
  return plan.parts.map(({ blocks }, part) =>
    blocks.index.history.commits.map((number) => findRow(numbers, plan.numberOf(part, number))),
  );
}

function findRow(sorted: Uint32Array, target: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as number) < target) low = middle + 1;
    else high = middle;
  }
  return low;
}
