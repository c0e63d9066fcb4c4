import { type Budget, UNLIMITED } from "../budget.ts";
import { type CommitGraph, NO_NODE, type Node } from "./commit-graph.ts";
import { logPathLimited } from "./limited-path-history.ts";
import { findWanted, followedParents, type LogRange } from "./log.ts";
import { byTime } from "./node-queue.ts";
import type { PathFinder } from "./path-finder.ts";

/** Steps to walk over a commit, beside those of its reads. */
const STEPS_PER_COMMIT = 100;

/**
 * Yields the commits that changed a path, latest first, as `git log -- <path>` shows them: if one side of a
 * merge left the path unchanged, only that side is followed.
 *
 * Cost: for each commit walked, the trees down to the path that have not been read before.
 *
 * @param budget Ends the list early, except for a range that excludes commits: there, every commit may turn out to be
 * excluded until the walk ends, so it is refused.
 * @param range With `isFirstParent`, a merge counts as one change with everything it merged.
 */
export async function* logPath(
  graph: CommitGraph,
  finder: PathFinder,
  range: LogRange,
  budget: Budget = UNLIMITED,
): AsyncGenerator<Node> {
  const { tips, excluded = [], isFirstParent = false } = range;
  if (excluded.length > 0) {
    yield* await logPathLimited(graph, finder, range, budget);
    return;
  }
  const isWanted = findWanted(graph, range);
  const queue = byTime(graph);
  const seen = new Uint8Array(graph.count);
  const put = (node: Node): void => {
    if (node === NO_NODE || seen[node] === 1 || !isWanted(node)) return;
    seen[node] = 1;
    queue.push(node);
  };
  for (const tip of tips) put(tip);
  for (let node = queue.pop(); node !== undefined; node = queue.pop()) {
    budget.consume(STEPS_PER_COMMIT);
    if (budget.isExhausted) return;
    await budget.pause();
    const own = await finder.findAt(graph, node);
    const parents = followedParents(graph, node, isFirstParent);
    let same: Node = NO_NODE;
    for (const parent of parents) {
      if (parent === NO_NODE || (await finder.findAt(graph, parent)) !== own) continue;
      same = parent;
      break;
    }
    if (same !== NO_NODE) {
      put(same);
      continue;
    }
    if (parents.length > 0 || own !== "") yield node;
    for (const parent of parents) put(parent);
  }
}
