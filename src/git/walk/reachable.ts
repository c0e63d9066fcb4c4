import { COMMIT, TAG } from "../object/kind.ts";
import type { Oid } from "../oid.ts";
import type { PackCatalog, ObjectLocation } from "../catalog/pack-catalog.ts";
import { LocationSet } from "../catalog/location-set.ts";
import { type CommitGraph, NO_NODE, type Node } from "./commit-graph.ts";
import { tagTarget } from "./peel.ts";

/**
 * All objects reachable from `tipOids`: a client that may read the tips may read these objects.
 *
 * No object is read: the graph lists the objects that each commit introduces. A tree or blob
 * reached without a commit, as a tip or as the target of a tag, is included without the entries
 * below it.
 */
export function findReachable(
  catalog: PackCatalog,
  graph: CommitGraph,
  tipOids: Iterable<Oid>,
): LocationSet {
  const reached = new LocationSet(catalog);
  const stack: Node[] = [];
  for (const oid of tipOids) {
    for (let at: ObjectLocation | undefined = catalog.find(oid); at; at = tagTarget(catalog, at)) {
      reached.add(at);
      const kind = catalog.kind(at);
      if (kind === COMMIT) stack.push(graph.nodeAt(at));
      if (kind !== TAG) break;
    }
  }
  const marks = markReachable(graph, stack);
  for (let node = marks.indexOf(1); node >= 0; node = marks.indexOf(1, node + 1)) {
    reached.add(graph.location(node));
    graph.visitIntroduced(node, (location) => reached.add(location));
  }
  return reached;
}

/**
 * For each commit of the graph: 1 if it is reachable from `tips`, else 0.
 *
 * @param marks Marks of an earlier call, to which these are added. Commits that it marked cost
 *   nothing.
 */
export function markReachable(
  graph: CommitGraph,
  tips: readonly Node[],
  marks: Uint8Array = new Uint8Array(graph.count),
): Uint8Array {
  const stack = [...tips];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (node === NO_NODE || marks[node] === 1) continue;
    marks[node] = 1;
    // One by one: a commit may have more parents than a call has arguments.
    for (const parent of graph.parents(node)) stack.push(parent);
  }
  return marks;
}

/**
 * True if each of `wants` is a commit of `common` or a descendant of one: then negotiation can end,
 * because the server knows enough to build a good pack.
 */
export function areAllBasedOn(
  graph: CommitGraph,
  wants: readonly Node[],
  common: readonly Node[],
): boolean {
  const bases = new Set(common.filter((node) => node !== NO_NODE));
  if (bases.size === 0) return false;
  let lowest = Number.POSITIVE_INFINITY;
  for (const node of bases) lowest = Math.min(lowest, graph.generations[node] as number);

  const seen = new Set<Node>();
  const stack = [...wants];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    const isBelow = node === NO_NODE || (graph.generations[node] as number) < lowest;
    if (isBelow || seen.has(node)) continue;
    seen.add(node);
    if (!bases.has(node)) for (const parent of graph.parents(node)) stack.push(parent);
  }
  // Parents have lower generations, so this order decides them before their children.
  const order = [...seen].toSorted(
    (a, b) => (graph.generations[a] as number) - (graph.generations[b] as number),
  );
  const based = new Set<Node>();
  for (const node of order) {
    if (bases.has(node) || graph.parents(node).some((parent) => based.has(parent))) {
      based.add(node);
    }
  }
  return wants.every((node) => based.has(node));
}
