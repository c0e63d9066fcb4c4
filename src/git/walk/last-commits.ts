import { type Budget, UNLIMITED } from "../budget.ts";
import { type ByteText } from "../byte-text.ts";
import { parseTreeInPieces } from "../object/tree.ts";
import { resident } from "../catalog/block-pool.ts";
import type { PackCatalog } from "../catalog/pack-catalog.ts";
import type { PackedObjects } from "../catalog/packed-objects.ts";
import { type CommitGraph, NO_NODE, type Node } from "./commit-graph.ts";
import { byGeneration } from "./node-queue.ts";
import { PathFinder } from "./path-finder.ts";
import { visitQueue } from "./visit-queue.ts";

/** How many parsed directories are cached: a commit's and its parents'. */
const PARSED_MAX = 4;

/** Steps to compare a name in a commit, beside those of reads. */
const STEPS_PER_NAME = 10;

type Entries = ReadonlyMap<ByteText, string>;

/** A search for the last commits of names or paths, with its state. */
export interface LastCommitSearch<Name> {
  readonly found: Map<Name, Node>;
  /**
   * For each commit to visit next: the names whose last change is in the commit or in its
   * ancestors.
   */
  readonly waiting: Map<Node, Set<Name>>;
}

/** The beginning of a search. */
export const startSearch = <Name>(tip: Node, names: Iterable<Name>): LastCommitSearch<Name> => ({
  found: new Map(),
  waiting: new Map([[tip, new Set(names)]]),
});

/**
 * Continues the search for the commit that last changed each name in one directory, as
 * `git log -1 -- <path>` does: if one parent has the same entry, the entry's history continues in
 * that parent only.
 *
 * Cost: each commit until all names are found is visited once, whatever the number of names. For
 * each commit, the trees down to the directory are read, and the directory itself if it changed.
 *
 * @param packed Reads within the budget.
 * @param directory Names separated by slashes; "" is the root.
 * @param search Receives what is found. If commits wait at its end, the budget was exhausted;
 *   another call continues.
 */
export async function findLastCommits(
  graph: CommitGraph,
  catalog: PackCatalog,
  packed: PackedObjects,
  directory: ByteText,
  { found, waiting }: LastCommitSearch<ByteText>,
  budget: Budget = UNLIMITED,
): Promise<void> {
  const finder = new PathFinder(catalog, packed, directory);
  const parsed = new Map<string, Entries>();
  const occupantAt = async (node: Node): Promise<string> => {
    const root = catalog.isByBlock ? await graph.loadRoot(node) : graph.root(node);
    return root ? finder.find(root) : "";
  };
  const entriesOf = async (occupant: string): Promise<Entries> => {
    const known = parsed.get(occupant);
    if (known) return known;
    const isTree = occupant.startsWith("40000 ");
    const location = isTree
      ? await resident(() => catalog.find(occupant.slice("40000 ".length)))
      : undefined;
    const tree = location
      ? await parseTreeInPieces(await packed.readAt(location), packed.budget)
      : [];
    const entries = new Map(tree.map(({ name, mode, oid }) => [name, `${mode} ${oid}`]));
    if (parsed.size === PARSED_MAX) parsed.clear();
    parsed.set(occupant, entries);
    return entries;
  };

  const queue = byGeneration(graph);
  const pass = (node: Node, name: ByteText): void => {
    const known = waiting.get(node);
    if (known) known.add(name);
    else {
      waiting.set(node, new Set([name]));
      queue.push(node);
    }
  };
  const visit = async (node: Node): Promise<void> => {
    let left = waiting.get(node) ?? new Set();
    const own = await occupantAt(node);
    for (const parent of graph.parents(node)) {
      if (parent === NO_NODE || left.size === 0) continue;
      const theirs = await occupantAt(parent);
      if (theirs === own && !waiting.has(parent)) {
        // The whole set at once: a large directory that rarely changes costs nothing for each of
        // its names.
        waiting.set(parent, left);
        queue.push(parent);
        left = new Set();
        waiting.set(node, left);
        continue;
      }
      const isSame = theirs === own;
      const here = isSame ? undefined : await entriesOf(own);
      const there = isSame ? undefined : await entriesOf(theirs);
      budget.consume(STEPS_PER_NAME * left.size);
      for (const name of left) {
        if (here?.get(name) !== there?.get(name)) continue;
        pass(parent, name);
        left.delete(name);
      }
    }
    for (const name of left) found.set(name, node);
    waiting.delete(node);
  };
  for (const node of waiting.keys()) queue.push(node);
  await visitQueue(queue, budget, visit);
}
