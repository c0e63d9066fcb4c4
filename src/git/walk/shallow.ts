import { type CommitGraph, NO_NODE, type Node } from "./commit-graph.ts";
import { findRange } from "./log.ts";

/** A history cut for a shallow clone. */
export interface ShallowCut {
  /** Commits that are sent without their parents. */
  readonly boundary: ReadonlySet<Node>;
  /** Commits inside the cut, the boundary included. */
  readonly nodes: ReadonlySet<Node>;
}

/**
 * Cuts history by depth: the tips have depth 1, and the commits at `depth` are the boundary.
 *
 * As in git, these include root commits, so that a clone of depth 1 is always shallow and can be
 * unshallowed.
 *
 * @param depth At least 1.
 */
export function cutByDepth(graph: CommitGraph, tips: readonly Node[], depth: number): ShallowCut {
  const nodes = new Set<Node>();
  const boundary = new Set<Node>();
  // Level by level, so that each node is first visited at its least depth.
  let level = tips.filter((node) => node !== NO_NODE);
  for (let at = 1; level.length > 0; at++) {
    const next: Node[] = [];
    for (const node of level) {
      if (nodes.has(node)) continue;
      nodes.add(node);
      if (at >= depth) boundary.add(node);
      else for (const parent of graph.parents(node)) next.push(parent);
    }
    level = next.filter((node) => node !== NO_NODE);
  }
  return { nodes, boundary };
}

/**
 * Cuts history by time and by refs: keeps the commits of `sinceSeconds` or later that are not
 * reachable from `excluded`. A kept commit with a parent that is not kept belongs to the boundary.
 *
 * As in git, a commit that is too old hides its ancestors, whatever their times.
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
  // A boundary commit loses all its parents, so commits reachable only through it are dropped too.
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
  // Depth is counted from the client's boundary. Above it the client has all history, so no cut is
  // needed.
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
