import { type Budget, UNLIMITED } from "../budget.ts";
import { GitError } from "../error.ts";
import { type CommitGraph, NO_NODE, type Node } from "./commit-graph.ts";
import { logPathLimited } from "./limited-path-history.ts";
import { rangeFilter, followedParents, type LogRange } from "./log.ts";
import { byTime } from "./node-queue.ts";
import type { PathFinder } from "./path-finder.ts";

/** Steps to walk over a commit, beside those of its reads. */
const STEPS_PER_COMMIT = 100;

/** Steps to walk over a commit of an earlier walk, which reads nothing. */
const STEPS_PER_KNOWN_COMMIT = 20;

/**
 * The result of a walk for each of its commits, in their order: one character for the parent
 * whose entry at the path is the same, or for a change. Another walk of the same range repeats it
 * without a read and continues where it ended.
 */
export class PathTrail {
  text: string;
  /** Whether a walk has come to its end, so that none has to continue. */
  isEnded = false;

  constructor(text = "") {
    this.text = text;
  }
}

/** The character for a commit that changed the path; the first parent has the next character. */
const CHANGED = 0x30;

/**
 * Yields the commits that changed a path, latest first, as `git log -- <path>` shows them: if one
 * side of a merge left the path unchanged, only that side is followed.
 *
 * Cost: for each commit walked, the trees down to the path that have not been read before.
 *
 * @param budget Ends the list early, except for a range that excludes commits: there, every commit
 * may turn out to be excluded until the walk ends, so it is refused.
 * @param range With `isFirstParent`, a merge counts as one change with everything it merged.
 * @param trail That of an earlier walk of this range which the budget ended; it grows by this walk.
 * Ranges that exclude commits have none.
 * @throws GitError `limit` for a range that excludes commits, once the budget is exhausted.
 */
export async function* logPath(
  graph: CommitGraph,
  finder: PathFinder,
  range: LogRange,
  budget: Budget = UNLIMITED,
  trail: PathTrail = new PathTrail(),
): AsyncGenerator<Node> {
  const { tips, excluded = [], isFirstParent = false } = range;
  if (excluded.length > 0) {
    yield* await logPathLimited(graph, finder, range, budget);
    return;
  }
  const isInRange = rangeFilter(graph, range);
  const queue = byTime(graph);
  const seen = new Uint8Array(graph.count);
  const put = (node: Node): void => {
    if (node === NO_NODE || seen[node] === 1 || !isInRange(node)) return;
    seen[node] = 1;
    queue.push(node);
  };
  const known = trail.text;
  for (const tip of tips) put(tip);
  let walked = 0;
  for (let node = queue.pop(); node !== undefined; node = queue.pop()) {
    const isKnown = walked < known.length;
    budget.consume(isKnown ? STEPS_PER_KNOWN_COMMIT : STEPS_PER_COMMIT);
    if (budget.isExhausted) return;
    await budget.pause();
    const parents = followedParents(graph, node, isFirstParent);
    const code = isKnown
      ? known.charCodeAt(walked)
      : await findSameParent(graph, finder, node, parents, budget);
    if (code === undefined) return;
    if (!isKnown) trail.text += String.fromCharCode(code);
    walked++;
    if (code > CHANGED) {
      put(parents[code - CHANGED - 1] as Node);
      continue;
    }
    // Without parents, an unchanged commit is one that does not have the path.
    if (code === CHANGED) yield node;
    for (const parent of parents) put(parent);
  }
  trail.isEnded = true;
}

/** The character of a commit; undefined if the budget was exhausted by its reads. */
async function findSameParent(
  graph: CommitGraph,
  finder: PathFinder,
  node: Node,
  parents: Int32Array,
  budget: Budget,
): Promise<number | undefined> {
  try {
    const own = await finder.findAt(graph, node);
    for (const [at, parent] of parents.slice(0, PARENTS_MAX).entries()) {
      if (parent !== NO_NODE && (await finder.findAt(graph, parent)) === own) {
        return CHANGED + 1 + at;
      }
    }
    return parents.length > 0 || own !== "" ? CHANGED : CHANGED - 1;
  } catch (error) {
    if (budget.isExhausted && error instanceof GitError) return undefined;
    throw error;
  }
}

/** Parents of a commit that are compared: those that a character can name. */
const PARENTS_MAX = 0xd000;
