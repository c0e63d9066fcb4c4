import { type Budget, UNLIMITED } from "../budget.ts";
import { type ByteText, readByteText } from "../byte-text.ts";
import { isTreeMode, visitTree } from "../object/tree.ts";
import { formatOid } from "../oid.ts";
import { resident } from "../catalog/block-pool.ts";
import type { PackCatalog } from "../catalog/pack-catalog.ts";
import type { PackedObjects } from "../catalog/packed-objects.ts";
import { type CommitGraph, NO_NODE, type Node } from "./commit-graph.ts";
import type { LastCommitSearch } from "./last-commits.ts";
import { byGeneration } from "./node-queue.ts";
import { visitQueue } from "./visit-queue.ts";

/**
 * How many trees have their requested entries cached, so that a tree is read once for a run of
 * commits.
 */
const CACHED_MAX = 10_000;

/** Steps to compare a path in a commit, beside those of reads. */
const STEPS_PER_PATH = 20;

/** The mode and id of the entry at a path as one text; "" if the path does not exist. */
type Occupant = string;

/** The requested names of a directory. */
interface RequestedNames {
  /** The numbers of the paths that end here or below. */
  readonly paths: number[];
  readonly below: Map<string, RequestedNames>;
}

/**
 * Continues the search for the commit that last changed each of `paths`, as `git log -1 -- <path>`
 * does: if one parent has the same entry at the path, the path's history continues in that parent
 * only.
 *
 * Cost: each commit until all paths are found is visited once, whatever the number of paths. For
 * each commit and its parents, only the trees are read that lead to paths not found yet and that
 * differ.
 *
 * @param packed Reads within the budget.
 * @param paths Names separated by slashes.
 * @param search Receives what is found, by the index of the path; nothing for a path that never
 * existed. If commits wait at its end, the budget was exhausted; another call continues.
 */
export async function findLastCommitsOfPaths(
  graph: CommitGraph,
  catalog: PackCatalog,
  packed: PackedObjects,
  paths: readonly ByteText[],
  { found, waiting }: LastCommitSearch<number>,
  budget: Budget = UNLIMITED,
): Promise<void> {
  const comparer = new PathComparer(catalog, packed, paths);
  const queue = byGeneration(graph);
  const visit = async (node: Node): Promise<void> => {
    const left = waiting.get(node) ?? new Set();
    const own = await rootOf(graph, node);
    for (const parent of graph.parents(node)) {
      if (parent === NO_NODE || left.size === 0) continue;
      budget.consume(STEPS_PER_PATH * left.size);
      const same = await comparer.findSame(own, await rootOf(graph, parent), left);
      if (same.length === 0) continue;
      const known = waiting.get(parent);
      if (!known) queue.push(parent);
      waiting.set(parent, new Set([...(known ?? []), ...same]));
      for (const path of same) left.delete(path);
    }
    // A path that does not exist in the root commit either never existed.
    const isFirst = graph.parents(node).length === 0;
    for (const path of isFirst ? await comparer.findSame(own, "", left) : []) left.delete(path);
    for (const path of left) found.set(path, node);
    waiting.delete(node);
  };
  for (const node of waiting.keys()) queue.push(node);
  await visitQueue(queue, budget, visit);
}

async function rootOf(graph: CommitGraph, node: Node): Promise<Occupant> {
  const oid = await graph.loadRootOid(node);
  return oid === undefined ? "" : `40000 ${oid}`;
}

class PathComparer {
  private readonly catalog: PackCatalog;
  private readonly packed: PackedObjects;
  private readonly requested: RequestedNames = { paths: [], below: new Map() };
  private readonly cached = new Map<RequestedNames, Map<Occupant, ReadonlyMap<string, Occupant>>>();
  private cachedCount = 0;

  constructor(catalog: PackCatalog, packed: PackedObjects, paths: readonly ByteText[]) {
    this.catalog = catalog;
    this.packed = packed;
    for (const [path, text] of paths.entries()) {
      let at = this.requested;
      at.paths.push(path);
      for (const name of text.split("/")) {
        const next: RequestedNames = at.below.get(name) ?? { paths: [], below: new Map() };
        at.below.set(name, next);
        next.paths.push(path);
        at = next;
      }
    }
  }

  /** The paths with equal entries in two trees, including paths that exist in neither. */
  async findSame(
    ours: Occupant,
    theirs: Occupant,
    paths: ReadonlySet<number>,
  ): Promise<readonly number[]> {
    const same: number[] = [];
    await this.collect(this.requested, ours, theirs, paths, same);
    return same;
  }

  private async collect(
    requested: RequestedNames,
    ours: Occupant,
    theirs: Occupant,
    paths: ReadonlySet<number>,
    same: number[],
  ): Promise<void> {
    const left = requested.paths.filter((path) => paths.has(path));
    if (left.length === 0) return;
    if (ours === theirs) {
      same.push(...left);
      return;
    }
    if (requested.below.size === 0) return;
    const [here, there] = [await this.read(requested, ours), await this.read(requested, theirs)];
    for (const [name, below] of requested.below) {
      await this.collect(below, here.get(name) ?? "", there.get(name) ?? "", paths, same);
    }
  }

  /** The entries of a tree at the requested names. */
  private async read(
    requested: RequestedNames,
    tree: Occupant,
  ): Promise<ReadonlyMap<string, Occupant>> {
    const known = this.cached.get(requested)?.get(tree);
    if (known) return known;
    const entries = new Map<string, Occupant>();
    const location = tree.startsWith("40000 ")
      ? await resident(() => this.catalog.find(tree.slice(6)))
      : undefined;
    if (location) {
      const content = await this.packed.readAt(location);
      const lengths = new Set(Array.from(requested.below.keys(), (name) => name.length));
      visitTree(content, (mode, nameStart, nameEnd, oidOffset) => {
        if (!lengths.has(nameEnd - nameStart)) return;
        const name = readByteText(content, nameStart, nameEnd);
        if (!requested.below.has(name)) return;
        const kind = isTreeMode(mode) ? "40000" : mode.toString(8);
        entries.set(name, `${kind} ${formatOid(content, oidOffset)}`);
      });
    }
    this.cache(requested, tree, entries);
    return entries;
  }

  private cache(
    requested: RequestedNames,
    tree: Occupant,
    entries: ReadonlyMap<string, Occupant>,
  ): void {
    if (this.cachedCount >= CACHED_MAX) {
      this.cached.clear();
      this.cachedCount = 0;
    }
    const known = this.cached.get(requested) ?? new Map<Occupant, ReadonlyMap<string, Occupant>>();
    known.set(tree, entries);
    this.cached.set(requested, known);
    this.cachedCount++;
  }
}
