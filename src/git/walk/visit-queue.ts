import type { Budget } from "../budget.ts";
import { GitError } from "../error.ts";
import type { Node } from "./commit-graph.ts";
import type { NodeQueue } from "./node-queue.ts";

/** Steps to walk over a commit, beside those of reads. */
const STEPS_PER_COMMIT = 100;

/**
 * Visits the commits of a queue, to which visits may add others, until none is left or the budget
 * is exhausted. A visit whose reads exhaust it throws, and leaves its commit as if it had not been
 * visited.
 */
export async function visitQueue(
  queue: NodeQueue,
  budget: Budget,
  visit: (node: Node) => Promise<void>,
): Promise<void> {
  try {
    while (!budget.isExhausted) {
      const node = queue.pop();
      if (node === undefined) return;
      budget.consume(STEPS_PER_COMMIT);
      await budget.pause();
      await visit(node);
    }
  } catch (error) {
    if (!budget.isExhausted || !(error instanceof GitError)) throw error;
  }
}
