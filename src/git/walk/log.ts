import { type CommitGraph, NO_NODE, type Node } from "./commit-graph.ts";
import { byGeneration, byTime } from "./node-queue.ts";

/** Marks of a node that a walk has met. */
const WANTED = 1;
const EXCLUDED = 2;

/** What part of history is walked. */
export interface LogRange {
  readonly tips: readonly Node[];
  /** Commits that are left out with all that they reach. */
  readonly excluded?: readonly Node[];
  /** Follow only the first parent of each commit, as `git log --first-parent`. */
  readonly isFirstParent?: boolean;
  /** Commits of an earlier time are left out, with what only they lead to, as `--since` does. */
  readonly sinceSeconds?: number;
}

/**
 * Commits latest first, as `git log` shows them without options. Made one by one: taking the first
 * page of a long history costs that page, unless something is excluded.
 */
export function logByTime(graph: CommitGraph, range: LogRange): Generator<Node> {
  return walkByTime(graph, range.tips, findWanted(graph, range), range.isFirstParent);
}

/** The same where it is known what is wanted: a commit that is not ends the walk there. */
export function* walkByTime(
  graph: CommitGraph,
  tips: readonly Node[],
  isWanted: (node: Node) => boolean,
  isFirstParent = false,
): Generator<Node> {
  const queue = byTime(graph);
  const seen = new Uint8Array(graph.count);
  const put = (node: Node): void => {
    if (node === NO_NODE || seen[node] === 1 || !isWanted(node)) return;
    seen[node] = 1;
    queue.push(node);
  };
  for (const tip of tips) put(tip);
  for (let node = queue.pop(); node !== undefined; node = queue.pop()) {
    yield node;
    for (const parent of followedParents(graph, node, isFirstParent)) put(parent);
  }
}

/** How many commits a walk gives that `isCounted`. Cost: the walk, in any order. */
export function countWalk(
  graph: CommitGraph,
  tips: readonly Node[],
  isWanted: (node: Node) => boolean,
  isCounted: (node: Node) => boolean = () => true,
): number {
  const seen = new Uint8Array(graph.count);
  const stack: Node[] = [...tips];
  let count = 0;
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (node === NO_NODE || seen[node] === 1) continue;
    seen[node] = 1;
    if (!isWanted(node)) continue;
    if (isCounted(node)) count++;
    // One by one: a commit may have more parents than a call has arguments.
    for (const parent of graph.parents(node)) stack.push(parent);
  }
  return count;
}

/**
 * Commits with every child before its parents, and lines of history kept together, as
 * `git log --topo-order`. With `isByTime`, latest first where parentage leaves the choice, as
 * `--date-order`.
 *
 * Cost: the whole range, before the first commit.
 */
export function* logByTopology(
  graph: CommitGraph,
  range: LogRange,
  isByTime = false,
): Generator<Node> {
  const nodes = [...logByTime(graph, range)];
  /** Children of each node that were not given yet. */
  const waiting = new Map<Node, number>(nodes.map((node) => [node, 0]));
  for (const node of nodes) {
    for (const parent of followedParents(graph, node, range.isFirstParent)) {
      const children = waiting.get(parent);
      if (children !== undefined) waiting.set(parent, children + 1);
    }
  }
  const tips = nodes.filter((node) => waiting.get(node) === 0);
  const queue = byTime(graph);
  const stack: Node[] = isByTime ? [] : tips.toReversed();
  if (isByTime) for (const tip of tips) queue.push(tip);
  for (;;) {
    const node = isByTime ? queue.pop() : stack.pop();
    if (node === undefined) return;
    yield node;
    for (const parent of followedParents(graph, node, range.isFirstParent)) {
      const children = waiting.get(parent);
      if (children === undefined) continue;
      waiting.set(parent, children - 1);
      if (children > 1) continue;
      if (isByTime) queue.push(parent);
      else stack.push(parent);
    }
  }
}

/** The parents that a walk goes on to. */
export function followedParents(graph: CommitGraph, node: Node, isFirstParent = false): Int32Array {
  const parents = graph.parents(node);
  return isFirstParent ? parents.subarray(0, 1) : parents;
}

/** A test for the commits of a range: late enough, and reached by nothing that is excluded. */
export function findWanted(graph: CommitGraph, range: LogRange): (node: Node) => boolean {
  const { tips, excluded = [], sinceSeconds = Number.NEGATIVE_INFINITY } = range;
  const isLate = (node: Node): boolean => (graph.times[node] as number) >= sinceSeconds;
  if (excluded.length === 0) return isLate;
  const { nodes } = findRange(graph, tips, excluded);
  // As in git: where something is excluded, so is all that a commit too old reaches.
  const old = [...nodes].filter((node) => !isLate(node));
  const wanted = old.length > 0 ? findRange(graph, tips, [...excluded, ...old]).nodes : nodes;
  return (node) => wanted.has(node);
}

export interface CommitRange {
  /** What the tips reach and nothing excluded does. */
  readonly nodes: ReadonlySet<Node>;
  /** Excluded commits that are parents of commits in the range. */
  readonly boundary: ReadonlySet<Node>;
}

/**
 * The commits that `tips` reach and `excluded` do not.
 *
 * Exact whatever the clocks say: nodes are taken by generation, so each has all its marks when its
 * turn comes. Cost: the range, and what is excluded down to the lowest generation of the range.
 *
 * @param cut Commits whose parents do not count on the excluded side: a shallow client's boundary.
 */
export function findRange(
  graph: CommitGraph,
  tips: readonly Node[],
  excluded: readonly Node[],
  cut: ReadonlySet<Node> = new Set(),
): CommitRange {
  const queue = byGeneration(graph);
  const marks = new Uint8Array(graph.count);
  let wanted = 0;
  const mark = (node: Node, next: number): void => {
    if (node === NO_NODE) return;
    const before = marks[node];
    if (before === next || before === EXCLUDED) return;
    if (before === 0) queue.push(node);
    else wanted--;
    if (next === WANTED) wanted++;
    marks[node] = next;
  };
  for (const node of excluded) mark(node, EXCLUDED);
  for (const node of tips) mark(node, WANTED);
  const nodes = new Set<Node>();
  while (wanted > 0) {
    const node = queue.pop();
    if (node === undefined) break;
    const own = marks[node] as number;
    if (own === WANTED) {
      wanted--;
      nodes.add(node);
    } else if (cut.has(node)) {
      continue;
    }
    for (const parent of graph.parents(node)) mark(parent, own);
  }
  const boundary = new Set<Node>();
  for (const node of nodes) {
    for (const parent of graph.parents(node)) {
      if (parent !== NO_NODE && marks[parent] === EXCLUDED) boundary.add(parent);
    }
  }
  return { nodes, boundary };
}
