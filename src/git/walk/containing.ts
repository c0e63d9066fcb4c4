import type { Steps } from "../budget.ts";
import { type CommitGraph, NO_NODE, type Node } from "./commit-graph.ts";
import { TURN_COMMITS, TURN_STEPS } from "./log.ts";

const SEEN = 1;
const CONTAINS = 2;

/**
 * Finds the commits from which a commit is reachable, itself included, among those that are
 * reachable from `tips`. Can be interrupted.
 *
 * Cost: the commits that are reachable from a tip and have a higher generation, ordered by it.
 */
export function* containingInTurns(
  graph: CommitGraph,
  commit: Node,
  tips: readonly Node[],
): Steps<(node: Node) => boolean> {
  const { generations } = graph;
  const lowest = generations[commit] as number;
  const marks = new Uint8Array(graph.count);
  marks[commit] = CONTAINS;
  const above: Node[] = [];
  const stack = [...tips];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (node === NO_NODE || marks[node] !== 0 || (generations[node] as number) <= lowest) continue;
    marks[node] = SEEN;
    if (above.push(node) % TURN_COMMITS === 0) yield TURN_STEPS;
    for (const parent of graph.parents(node)) stack.push(parent);
  }
  // Parents have lower generations, so this order decides them before their children.
  above.sort((a, b) => (generations[a] as number) - (generations[b] as number));
  for (const [at, node] of above.entries()) {
    if (at % TURN_COMMITS === 0) yield TURN_STEPS;
    const isAbove = graph.parents(node).some((parent) => marks[parent] === CONTAINS);
    if (isAbove) marks[node] = CONTAINS;
  }
  return (node) => marks[node] === CONTAINS;
}
