import { type Budget, finishInTurns, UNLIMITED } from "../budget.ts";
import type { ByteText } from "../byte-text.ts";
import { compareInParts, entryName } from "../object/compare-trees.ts";
import type { PackCatalog } from "../catalog/pack-catalog.ts";
import type { PackedObjects } from "../catalog/packed-objects.ts";
import { type CommitGraph, NO_NODE, type Node } from "./commit-graph.ts";
import { byGeneration } from "./node-queue.ts";
import { type FoundEntry, PathFinder } from "./path-finder.ts";
import { visitQueue } from "./visit-queue.ts";

/** Steps to compare a name in a commit, beside those of reads. */
const STEPS_PER_NAME = 10;

const NO_TREE = new Uint8Array(0);

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
  // A commit's directory was read with its child.
  let latest: { occupant: string; bytes: Uint8Array } = { occupant: "", bytes: NO_TREE };
  const read = async ({ occupant, tree }: FoundEntry): Promise<Uint8Array> => {
    if (!tree) return NO_TREE;
    if (latest.occupant !== occupant) latest = { occupant, bytes: await packed.readAt(tree) };
    return latest.bytes;
  };
  /** The names whose entries differ in two versions of the directory. */
  const findChanged = async (own: FoundEntry, theirs: FoundEntry): Promise<Set<ByteText>> => {
    const changed = new Set<ByteText>();
    if (own.occupant === theirs.occupant) return changed;
    const [here, there] = [await read(own), await read(theirs)];
    const add = (bytes: Uint8Array) => (_mode: number, oidOffset: number, start: number) =>
      void changed.add(entryName(bytes, start, oidOffset));
    await finishInTurns(compareInParts(here, there, add(here), add(there)), budget);
    return changed;
  };

  const queue = byGeneration(graph);
  const visit = async (node: Node): Promise<void> => {
    let left = waiting.get(node) ?? new Set();
    const own = await finder.findEntryAt(graph, node);
    for (const parent of graph.parents(node)) {
      if (parent === NO_NODE || left.size === 0) continue;
      const changed = await findChanged(own, await finder.findEntryAt(graph, parent));
      const kept = new Set([...changed].filter((name) => left.delete(name)));
      const known = waiting.get(parent);
      budget.consume(STEPS_PER_NAME * (changed.size + (known ? left.size : 0)));
      // The whole set at once: a large directory of which little changes costs nothing for each of
      // its other names.
      if (known) for (const name of left) known.add(name);
      else if (left.size > 0) {
        waiting.set(parent, left);
        queue.push(parent);
      }
      left = kept;
      waiting.set(node, left);
    }
    for (const name of left) found.set(name, node);
    waiting.delete(node);
  };
  for (const node of waiting.keys()) queue.push(node);
  await visitQueue(queue, budget, visit);
}
