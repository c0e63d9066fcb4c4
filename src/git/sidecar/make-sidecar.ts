import { type Budget, runInTurns, type Steps, UNLIMITED } from "../budget.ts";
import type { Oid } from "../oid.ts";
import { OID_BYTES } from "../oid.ts";
import { sortByOid } from "../pack/oid-order.ts";
import { NO_ENTRY, type PackTable } from "../pack/pack-table.ts";
import type { Gauge, OutsideObjects } from "../store.ts";
import type { CommitLinks } from "./commit-links.ts";
import { findIntroduced, type Introduced } from "./introduced.ts";
import { NumberList } from "./number-list.ts";
import type { PackInspector } from "./pack-inspector.ts";
import type { Sidecar } from "./sidecar-file.ts";

/** Rows after which a pass over a table yields. */
const PART_ROWS = 4096;

/** Looks up commits of the repository that are outside of the new pack. */
export interface KnownCommits {
  /** Returns the generation of a commit, undefined if it is unknown. */
  generation(commitOid: Oid): number | undefined;
}

/**
 * Builds the sidecar of a pack after both passes.
 *
 * @param checksum The pack's trailing hash, in hex.
 * @param objects The objects to which the pack may refer.
 * @param gauge Receives the memory held in addition to the table and the inspector, in bytes.
 */
export async function makeSidecar(
  table: PackTable,
  checksum: string,
  inspector: PackInspector,
  objects: OutsideObjects,
  known: KnownCommits,
  gauge: Gauge = () => {},
  budget: Budget = UNLIMITED,
): Promise<Sidecar> {
  const introduced = await findIntroduced(inspector, table, objects, budget);
  return runInTurns(fillSidecar(table, checksum, inspector, introduced, known, gauge), budget);
}

function* fillSidecar(
  table: PackTable,
  checksum: string,
  inspector: PackInspector,
  introduced: Introduced,
  known: KnownCommits,
  gauge: Gauge,
): Steps<Sidecar> {
  const { pool } = inspector;
  const { count } = table;
  const listBytes = introduced.starts.byteLength + introduced.ids.heldBytes;
  gauge(listBytes + introduced.workBytes);
  const order = yield* sortByOid(table.oids, count);
  const positions = new Uint32Array(count);
  for (let position = 0; position < count; position++) {
    if (position % PART_ROWS === 0) yield PART_ROWS;
    positions[order[position] as number] = position;
  }

  // Maps pool ids to object references of the sidecar. Objects outside of the pack get a row when
  // first referred to.
  const unknown = 0xffffffff;
  const refs = new Uint32Array(pool.count + count).fill(unknown);
  for (let entry = 0; entry < count; entry++) {
    if (entry % PART_ROWS === 0) yield 5 * PART_ROWS;
    refs[pool.add(table.oids, entry * OID_BYTES)] = positions[entry] as number;
  }
  const outside = new NumberList();
  const toRef = (id: number): number => {
    if (refs[id] === unknown) {
      refs[id] = count + outside.length;
      outside.push(id);
    }
    return refs[id] as number;
  };

  const { commits: links } = inspector;
  const commitCount = links.length;
  const commitOrder = yield* orderCommits(links, order);
  const commits = new Uint32Array(commitCount);
  const roots = new Uint32Array(commitCount);
  const times = new Float64Array(commitCount);
  const parentStarts = new Uint32Array(commitCount + 1);
  const introducedStarts = new Uint32Array(commitCount + 1);
  const parents = new NumberList();
  const introducedRefs = new NumberList();
  let yieldedLength = 0;
  for (const [row, at] of commitOrder.entries()) {
    if (row % PART_ROWS === 0 || introducedRefs.length - yieldedLength > PART_ROWS) {
      yield 20 * PART_ROWS;
      yieldedLength = introducedRefs.length;
    }
    commits[row] = positions[links.entry(at)] as number;
    roots[row] = toRef(links.treeId(at));
    times[row] = links.timeSeconds(at);
    for (const parentId of links.parentIds(at)) parents.push(toRef(parentId));
    parentStarts[row + 1] = parents.length;
    const end = introduced.starts[at + 1] as number;
    for (let item = introduced.starts[at] as number; item < end; item++) {
      introducedRefs.push(toRef(introduced.ids.at(item)));
    }
    introducedStarts[row + 1] = introducedRefs.length;
  }

  const tags = inspector.tags.toSorted(
    (a, b) => (positions[a.entry] as number) - (positions[b.entry] as number),
  );
  const tagTargets = Uint32Array.from(tags, (tag) => toRef(tag.targetId));
  const bases = new Int32Array(count);
  const kinds = new Uint8Array(count);
  const sizes = new Float64Array(count);
  for (let entry = 0; entry < count; entry++) {
    if (entry % PART_ROWS === 0) yield 3 * PART_ROWS;
    const position = positions[entry] as number;
    const base = table.bases[entry] as number;
    kinds[position] = table.kind(entry);
    sizes[position] = table.sizes[entry] as number;
    bases[position] = base === NO_ENTRY ? -1 : (positions[base] as number);
  }
  const outsideOids = new Uint8Array(outside.length * OID_BYTES);
  for (let row = 0; row < outside.length; row++) {
    if (row % PART_ROWS === 0) yield 5 * PART_ROWS;
    const at = outside.at(row) * OID_BYTES;
    outsideOids.set(pool.oids.subarray(at, at + OID_BYTES), row * OID_BYTES);
  }
  const parentRefs = parents.view().slice();
  // Numbers of objects, four bytes each; the lists, two of which are copied; and the columns.
  const numberBytes = refs.byteLength + order.byteLength + positions.byteLength;
  const rowBytes = commitCount * 28 + outsideOids.length + count * 13;
  const copiedBytes = 2 * (parents.heldBytes + introducedRefs.heldBytes) + outside.heldBytes;
  gauge(listBytes + numberBytes + rowBytes + copiedBytes);
  return {
    packChecksum: checksum,
    kinds,
    sizes,
    bases,
    outsideOids,
    commits,
    roots,
    times,
    parentStarts,
    parents: parentRefs,
    generations: yield* findGenerations(commits, parentStarts, parentRefs, count, (row) =>
      known.generation(pool.oid(outside.at(row))),
    ),
    introducedStarts,
    introduced: introducedRefs.view().slice(),
    tags: Uint32Array.from(tags, (tag) => positions[tag.entry] as number),
    tagTargets,
  };
}

/** The commits of a pack, as the inspector numbers them, by id: as `order` has the entries. */
function* orderCommits(links: CommitLinks, order: Uint32Array): Steps<Uint32Array> {
  const commits = new Map<number, number>();
  for (let at = 0; at < links.length; at++) {
    if (at % PART_ROWS === 0) yield 10 * PART_ROWS;
    commits.set(links.entry(at), at);
  }
  const ordered = new Uint32Array(links.length);
  let row = 0;
  for (let position = 0; position < order.length; position++) {
    if (position % PART_ROWS === 0) yield 5 * PART_ROWS;
    const commit = commits.get(order[position] as number);
    if (commit !== undefined) ordered[row++] = commit;
  }
  return ordered;
}

/**
 * Computes the generations of commits, parents first and without recursion. An unknown parent
 * outside of the pack counts as a root.
 */
function* findGenerations(
  commits: Uint32Array,
  parentStarts: Uint32Array,
  parents: Uint32Array,
  objectCount: number,
  outsideGeneration: (row: number) => number | undefined,
): Steps<Uint32Array> {
  const rows = new Map<number, number>();
  for (const [row, position] of commits.entries()) rows.set(position, row);
  const generations = new Uint32Array(commits.length);
  const stack: number[] = [];
  let visited = 0;
  for (let start = 0; start < commits.length; start++) {
    if (start % PART_ROWS === 0) yield 20 * PART_ROWS;
    if (generations[start] === 0) stack.push(start);
    for (let row = stack.at(-1); row !== undefined; row = stack.at(-1)) {
      if (++visited % PART_ROWS === 0) yield 20 * PART_ROWS;
      let highest = 0;
      const before = stack.length;
      const end = parentStarts[row + 1] as number;
      for (let at = parentStarts[row] as number; at < end; at++) {
        const ref = parents[at] as number;
        const parent = rows.get(ref);
        if (parent === undefined) {
          highest = Math.max(highest, outsideGeneration(ref - objectCount) ?? 1);
        } else if (generations[parent] === 0) {
          stack.push(parent);
        } else {
          highest = Math.max(highest, generations[parent] as number);
        }
      }
      if (stack.length > before) continue;
      generations[row] = highest + 1;
      stack.pop();
    }
  }
  return generations;
}
