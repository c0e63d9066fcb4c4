import { type CommitGraph, NO_NODE, type Node } from "./commit-graph.ts";
import { findRange } from "./log.ts";

/** Where history is cut. */
export interface ShallowCut {
  /** Commits that are sent without their parents. */
  readonly boundary: ReadonlySet<Node>;
  /** Commits inside the cut, the boundary included. */
  readonly nodes: ReadonlySet<Node>;
}

/**
 * Cuts history by depth: the tips have depth 1, and commits of `depth` are the boundary, unless
 * they have no parents.
 *
 * @param depth At least 1.
 */
export function cutByDepth(graph: CommitGraph, tips: readonly Node[], depth: number): ShallowCut {
  const nodes = new Set<Node>();
  const boundary = new Set<Node>();
  // Level by level: a node is met first at its least depth.
  let level = tips.filter((node) => node !== NO_NODE);
  for (let at = 1; level.length > 0; at++) {
    const next: Node[] = [];
    for (const node of level) {
      if (nodes.has(node)) continue;
      nodes.add(node);
      const parents = graph.parents(node);
      if (at >= depth && parents.length > 0) boundary.add(node);
      if (at < depth) for (const parent of parents) next.push(parent);
    }
    level = next.filter((node) => node !== NO_NODE);
  }
  return { nodes, boundary };
}

/**
 * Cuts history by time and by refs: what remains is of `sinceSeconds` or later and not reached by
 * `excluded`. A commit with a parent that does not remain is of the boundary.
 *
 * As in git, a commit too old hides what lies behind it, whatever its time.
 */
export function cutByRange(
  graph: CommitGraph,
  tips: readonly Node[],
  excluded: readonly Node[],
  sinceSeconds = Number.NEGATIVE_INFINITY,
): ShallowCut {
  const range = findRange(graph, tips, excluded).nodes;
  const isKept = (node: Node): boolean =>
    range.has(node) && (graph.times[node] as number) >= sinceSeconds;
  const seen = new Set<Node>();
  const boundary = new Set<Node>();
  const stack = tips.filter(isKept);
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (seen.has(node)) continue;
    seen.add(node);
    for (const parent of graph.parents(node)) {
      if (isKept(parent)) stack.push(parent);
      else boundary.add(node);
    }
  }
  // A commit of the boundary has no parents at all any more, so what only it leads to goes too.
  const nodes = new Set<Node>();
  const left = tips.filter(isKept);
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    if (nodes.has(node)) continue;
    nodes.add(node);
    if (!boundary.has(node)) for (const parent of graph.parents(node)) left.push(parent);
  }
  return { nodes, boundary };
}

/**
 * Cuts `depth` commits deeper than a client's boundary (`deepen-relative`).
 *
 * @param clientBoundary Commits that the client has without their parents.
 */
export function cutRelative(
  graph: CommitGraph,
  tips: readonly Node[],
  clientBoundary: ReadonlySet<Node>,
  depth: number,
): ShallowCut {
  // Where the client is cut, count from there; elsewhere it has all, and nothing needs a cut.
  const below = cutByDepth(graph, [...clientBoundary], depth + 1);
  const nodes = new Set<Node>(below.nodes);
  const stack = tips.filter((node) => node !== NO_NODE);
  const seen = new Set<Node>();
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (seen.has(node) || node === NO_NODE) continue;
    seen.add(node);
    nodes.add(node);
    if (!clientBoundary.has(node)) for (const parent of graph.parents(node)) stack.push(parent);
  }
  return { nodes, boundary: below.boundary };
}
