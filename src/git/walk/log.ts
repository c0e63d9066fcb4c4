import { runNow, type Steps } from "../budget.ts";
import { type CommitGraph, NO_NODE, type Node } from "./commit-graph.ts";
import { byGeneration, byTime } from "./node-queue.ts";

/** Commits after which a walk can be interrupted, and steps for them. */
export const TURN_COMMITS = 1000;
export const TURN_STEPS = 40 * TURN_COMMITS;

/** Marks of a node that the walk has visited. */
const INCLUDED = 1;
const EXCLUDED = 2;

/** The part of history to walk. */
export interface LogRange {
  readonly tips: readonly Node[];
  /** Commits that are left out, with all their ancestors. */
  readonly excluded?: readonly Node[];
  /** Follow only the first parent of each commit, as `git log --first-parent`. */
  readonly isFirstParent?: boolean;
  /**
   * Earlier commits are left out, with ancestors reachable only through them, as with `--since`.
   */
  readonly sinceSeconds?: number;
}

/**
 * Yields commits latest first, as `git log` shows them without options. The generator is lazy:
 * reading the first page of a long history costs only that page, unless the range excludes commits.
 */
export function logByTime(graph: CommitGraph, range: LogRange): Generator<Node> {
  return walkByTime(graph, range.tips, rangeFilter(graph, range), range.isFirstParent);
}

/**
 * Like `logByTime`, with a predicate: the walk does not go beyond a commit outside of the range.
 */
export function* walkByTime(
  graph: CommitGraph,
  tips: readonly Node[],
  isInRange: (node: Node) => boolean,
  isFirstParent = false,
): Generator<Node> {
  const queue = byTime(graph);
  const seen = new Uint8Array(graph.count);
  const put = (node: Node): void => {
    if (node === NO_NODE || seen[node] === 1 || !isInRange(node)) return;
    seen[node] = 1;
    queue.push(node);
  };
  for (const tip of tips) put(tip);
  for (let node = queue.pop(); node !== undefined; node = queue.pop()) {
    yield node;
    for (const parent of followedParents(graph, node, isFirstParent)) put(parent);
  }
}

/**
 * Lists commits latest first from `tip` on, at most `max`, and ends before the first for which
 * `isEnd` holds.
 *
 * Cost: the listed commits and their parents.
 */
export function listUntil(
  graph: CommitGraph,
  tip: Node,
  isEnd: (node: Node) => boolean,
  max: number,
): Node[] {
  const queue = byTime(graph);
  const seen = new Set<Node>([NO_NODE]);
  const nodes: Node[] = [];
  const put = (node: Node): void => {
    if (seen.has(node)) return;
    seen.add(node);
    queue.push(node);
  };
  put(tip);
  while (nodes.length < max) {
    const node = queue.pop();
    if (node === undefined || isEnd(node)) break;
    nodes.push(node);
    for (const parent of graph.parents(node)) put(parent);
  }
  return nodes;
}

/** Counts the commits of a walk. Cost: the walk, without sorting. */
export const countWalk = (
  ...args: [CommitGraph, readonly Node[], (node: Node) => boolean]
): number => runNow(countInTurns(...args));

/** `countWalk` of the commits for which `isCounted` holds. Can be interrupted. */
export function* countInTurns(
  graph: CommitGraph,
  tips: readonly Node[],
  isInRange: (node: Node) => boolean,
  isCounted: (node: Node) => boolean = () => true,
): Steps<number> {
  const seen = new Uint8Array(graph.count);
  const stack: Node[] = [...tips];
  let count = 0;
  let visited = 0;
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (++visited % TURN_COMMITS === 0) yield TURN_STEPS;
    if (node === NO_NODE || seen[node] === 1) continue;
    seen[node] = 1;
    if (!isInRange(node)) continue;
    if (isCounted(node)) count++;
    // One by one: a commit may have more parents than a call has arguments.
    for (const parent of graph.parents(node)) stack.push(parent);
  }
  return count;
}

/**
 * Yields every child before its parents and keeps lines of history together, as
 * `git log --topo-order` does. With `isByTime`, commits not ordered by ancestry come latest first,
 * as with `--date-order`.
 *
 * Cost: the whole range is walked before the first commit is yielded.
 */
export function* logByTopology(
  graph: CommitGraph,
  range: LogRange,
  isByTime = false,
): Generator<Node> {
  const nodes = [...logByTime(graph, range)];
  /** For each node, the number of children not yielded yet. */
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

/** The parents that a walk follows. */
export function followedParents(graph: CommitGraph, node: Node, isFirstParent = false): Int32Array {
  const parents = graph.parents(node);
  return isFirstParent ? parents.subarray(0, 1) : parents;
}

/**
 * A predicate for the commits of a range: late enough, and not reachable from an excluded commit.
 */
export function rangeFilter(graph: CommitGraph, range: LogRange): (node: Node) => boolean {
  const { tips, excluded = [], sinceSeconds = Number.NEGATIVE_INFINITY } = range;
  const isLate = (node: Node): boolean => (graph.times[node] as number) >= sinceSeconds;
  if (excluded.length === 0) return isLate;
  const { nodes } = findRange(graph, tips, excluded);
  // As in git: if the range excludes commits, the ancestors of commits that are too old are
  // excluded too.
  const old = [...nodes].filter((node) => !isLate(node));
  const included = old.length > 0 ? findRange(graph, tips, [...excluded, ...old]).nodes : nodes;
  return (node) => included.has(node);
}

export interface CommitRange {
  /** Commits reachable from the tips and not from an excluded commit. */
  readonly nodes: ReadonlySet<Node>;
  /** Excluded commits that are parents of commits in the range. */
  readonly boundary: ReadonlySet<Node>;
}

/**
 * Finds the commits reachable from `tips` and not from `excluded`.
 *
 * Exact even if commit times are wrong: nodes are visited by generation, so each has all its marks
 * when it is visited. Cost: the range, and the excluded commits down to the lowest generation of
 * the range.
 *
 * @param cut Excluded commits whose parents are not excluded: a shallow client's boundary.
 */
export function findRange(
  graph: CommitGraph,
  tips: readonly Node[],
  excluded: readonly Node[],
  cut?: ReadonlySet<Node>,
): CommitRange {
  return runNow(rangeInTurns(graph, tips, excluded, cut));
}

/** `findRange`, which can be interrupted. */
export function* rangeInTurns(
  graph: CommitGraph,
  tips: readonly Node[],
  excluded: readonly Node[],
  cut: ReadonlySet<Node> = new Set(),
): Steps<CommitRange> {
  const queue = byGeneration(graph);
  const marks = new Uint8Array(graph.count);
  let pending = 0;
  const mark = (node: Node, next: number): void => {
    if (node === NO_NODE) return;
    const before = marks[node];
    if (before === next || before === EXCLUDED) return;
    if (before === 0) queue.push(node);
    else pending--;
    if (next === INCLUDED) pending++;
    marks[node] = next;
  };
  for (const node of excluded) mark(node, EXCLUDED);
  for (const node of tips) mark(node, INCLUDED);
  const nodes = new Set<Node>();
  for (let visited = 1; pending > 0; visited++) {
    if (visited % TURN_COMMITS === 0) yield TURN_STEPS;
    const node = queue.pop();
    if (node === undefined) break;
    const own = marks[node] as number;
    if (own === INCLUDED) {
      pending--;
      nodes.add(node);
    } else if (cut.has(node)) {
      continue;
    }
    for (const parent of graph.parents(node)) mark(parent, own);
  }
  const boundary = new Set<Node>();
  let looked = 0;
  for (const node of nodes) {
    if (++looked % TURN_COMMITS === 0) yield TURN_STEPS;
    for (const parent of graph.parents(node)) {
      if (parent !== NO_NODE && marks[parent] === EXCLUDED) boundary.add(parent);
    }
  }
  return { nodes, boundary };
}
