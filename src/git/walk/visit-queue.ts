import type { Budget } from "../budget.ts";
import { GitError } from "../error.ts";
import type { Node } from "./commit-graph.ts";
import type { NodeQueue } from "./node-queue.ts";

/** Steps to walk over a commit, beside those of reads. */
const STEPS_PER_COMMIT = 100;

/**
 * Visits the commits of a queue, to which visits may add others, until none is left or a read ends the walk because
 * the budget is exhausted.
 */
export async function visitQueue(
  queue: NodeQueue,
  budget: Budget,
  visit: (node: Node) => Promise<void>,
): Promise<void> {
  try {
    for (let node = queue.pop(); node !== undefined; node = queue.pop()) {
      budget.consume(STEPS_PER_COMMIT);
      await budget.pause();
      await visit(node);
    }
  } catch (error) {
    if (!budget.isExhausted || !(error instanceof GitError)) throw error;
  }
}
