import type { Steps } from "../budget.ts";
import { type CommitGraph, NO_NODE, type Node } from "./commit-graph.ts";
import { TURN_COMMITS, TURN_STEPS } from "./log.ts";
import { byGeneration, byTime } from "./node-queue.ts";

/**
 * Lists the first commits of `git log --date-order`: every child before its parents, and commits
 * not ordered by ancestry latest first.
 *
 * Cost: the listed commits, and those whose generation is not below theirs; `logByTopology` walks
 * the whole history instead.
 *
 * @param max Commits to list.
 */
export function* topologyInTurns(
  graph: CommitGraph,
  tips: readonly Node[],
  max: number,
): Steps<Node[]> {
  const listed = new Set<Node>();
  /** One more than the children not listed yet; 0 for a commit that was not found yet. */
  const waiting = new Uint32Array(graph.count);
  const uncounted = byGeneration(graph);
  const ready = byTime(graph);
  const find = (node: Node): void => {
    if (node === NO_NODE || waiting[node] !== 0) return;
    waiting[node] = 1;
    uncounted.push(node);
  };
  let visited = 0;
  /** Finds all children of a commit: their generations are above its own. */
  function* countChildren(of: Node): Steps {
    const generation = graph.generations[of] as number;
    for (let node = uncounted.first; node !== undefined; node = uncounted.first) {
      if ((graph.generations[node] as number) < generation) return;
      uncounted.pop();
      for (const parent of graph.parents(node)) {
        find(parent);
        if (parent !== NO_NODE) (waiting[parent] as number)++;
      }
      if (++visited % TURN_COMMITS === 0) yield TURN_STEPS;
    }
  }
  for (const tip of tips) {
    find(tip);
    // It may be an ancestor of another one, which shows once its time has come.
    if (tip !== NO_NODE) ready.push(tip);
  }
  while (listed.size < max) {
    const node = ready.pop();
    if (node === undefined) break;
    yield* countChildren(node);
    if (waiting[node] !== 1 || listed.has(node)) continue;
    listed.add(node);
    for (const parent of graph.parents(node)) {
      if (parent === NO_NODE) continue;
      waiting[parent] = (waiting[parent] as number) - 1;
      if (waiting[parent] === 1) ready.push(parent);
    }
  }
  return [...listed];
}
