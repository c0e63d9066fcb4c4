import { runNow, type Steps } from "../budget.ts";
import { type CommitGraph, NO_NODE, type Node } from "./commit-graph.ts";
import { TURN_COMMITS, TURN_STEPS } from "./log.ts";
import { byGeneration } from "./node-queue.ts";

const LEFT = 1;
const RIGHT = 2;
const BOTH = LEFT | RIGHT;
/** An ancestor of a merge base: common to both sides, but not a best common ancestor. */
const STALE = 4;

/**
 * Passes marks from tips to ancestors, children first, until `isIdle` holds for all queued nodes.
 *
 * @param isIdle True if a queued node with these marks cannot change the result any more.
 * @param visit Receives each node once, with all its marks, and returns the marks to pass to its
 *   parents.
 */
function* paint(
  graph: CommitGraph,
  tips: readonly (readonly [Node, number])[],
  isIdle: (marks: number) => boolean,
  visit: (node: Node, marks: number) => number,
): Steps {
  const marks = new Uint8Array(graph.count);
  const queued = new Uint8Array(graph.count);
  const queue = byGeneration(graph);
  /** Number of queued nodes whose marks can still change the result. */
  let busy = 0;
  const mark = (node: Node, added: number): void => {
    if (node === NO_NODE) return;
    const before = marks[node] as number;
    const after = before | added;
    marks[node] = after;
    const wasBusy = queued[node] === 1 && !isIdle(before);
    if (queued[node] === 0) queue.push(node);
    queued[node] = 1;
    busy += Number(!isIdle(after)) - Number(wasBusy);
  };
  for (const [tip, added] of tips) mark(tip, added);
  for (let visited = 1; busy > 0; visited++) {
    if (visited % TURN_COMMITS === 0) yield TURN_STEPS;
    const node = queue.pop();
    if (node === undefined) break;
    const own = marks[node] as number;
    if (!isIdle(own)) busy--;
    const passed = visit(node, own);
    for (const parent of graph.parents(node)) mark(parent, passed);
  }
}

/**
 * All best common ancestors of `left` and of a hypothetical merge of `rights`: common ancestors
 * that are not ancestors of another common ancestor. Highest generation first.
 *
 * Cost: the commits between the tips and their bases. Can be interrupted.
 *
 * @see git-merge-base(1), `--all`.
 */
export function* mergeBasesInTurns(
  graph: CommitGraph,
  left: Node,
  rights: readonly Node[],
): Steps<Node[]> {
  const bases: Node[] = [];
  const tips = [[left, LEFT] as const, ...rights.map((node) => [node, RIGHT] as const)];
  yield* paint(
    graph,
    tips,
    (marks) => (marks & STALE) !== 0,
    (node, marks) => {
      if ((marks & STALE) !== 0 || (marks & BOTH) !== BOTH) return marks;
      bases.push(node);
      return marks | STALE;
    },
  );
  return bases;
}

/** How two histories have diverged. */
export interface Divergence {
  /** Commits reachable from the left tip only, children before their parents. */
  readonly left: readonly Node[];
  /** Commits reachable from the right tip only, in the same order. */
  readonly right: readonly Node[];
  /** The best common ancestors, as `mergeBasesInTurns` finds them. */
  readonly bases: readonly Node[];
}

/**
 * Compares two histories: `git rev-list --left-right left...right` and `git merge-base --all` in
 * one walk. Cost: the commits between the tips and their bases.
 */
export const findDivergence = (graph: CommitGraph, left: Node, right: Node): Divergence =>
  runNow(divergenceInTurns(graph, left, right));

/** `findDivergence`, which can be interrupted. */
export function* divergenceInTurns(graph: CommitGraph, left: Node, right: Node): Steps<Divergence> {
  const lefts: Node[] = [];
  const rights: Node[] = [];
  const bases: Node[] = [];
  yield* paint(
    graph,
    [
      [left, LEFT],
      [right, RIGHT],
    ],
    (marks) => (marks & STALE) !== 0,
    (node, marks) => {
      if (marks === LEFT) lefts.push(node);
      else if (marks === RIGHT) rights.push(node);
      else if ((marks & STALE) === 0) {
        bases.push(node);
        return marks | STALE;
      }
      return marks;
    },
  );
  return { left: lefts, right: rights, bases };
}

/** The latest of some merge bases; undefined if there are none, as for unrelated histories. */
export function latestOf(graph: CommitGraph, bases: readonly Node[]): Node | undefined {
  const timeOf = (node: Node): number => graph.times[node] as number;
  const [latest] = bases.toSorted((a, b) => timeOf(b) - timeOf(a));
  return latest;
}

/**
 * True if `ancestor` is reachable from `descendant`, or equal to it. Cost: the commits of higher
 * generations than the ancestor.
 */
export function isAncestor(graph: CommitGraph, ancestor: Node, descendant: Node): boolean {
  return findAncestors(graph, descendant, [ancestor]).length > 0;
}

/** The candidates reachable from `tip`, found in a single walk. */
export function findAncestors(graph: CommitGraph, tip: Node, candidates: readonly Node[]): Node[] {
  const sought = new Set(candidates);
  const generations = candidates.map((node) => graph.generations[node] as number);
  const lowest = generations.reduce((least, next) => Math.min(least, next), Number.MAX_VALUE);
  const seen = new Set<Node>([tip]);
  const stack = [tip];
  const found: Node[] = [];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (node === NO_NODE || (graph.generations[node] as number) < lowest) continue;
    if (sought.delete(node)) found.push(node);
    if (sought.size === 0) break;
    for (const parent of graph.parents(node)) {
      if (!seen.has(parent)) {
        seen.add(parent);
        stack.push(parent);
      }
    }
  }
  return found;
}
