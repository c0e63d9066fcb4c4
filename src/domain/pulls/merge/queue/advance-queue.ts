import { eq } from "drizzle-orm";

import type { Ctx } from "../../../../context.ts";
import { mergeQueues } from "../../../../db/schema/index.ts";
import type { WorkBudget } from "../../../../lib/work-budget.ts";
import { buildBatch, drop } from "./build-batch.ts";
import { endBatch } from "./end-batch.ts";
import { landBatch } from "./land-batch.ts";
import { endStatement } from "./leave-queue.ts";
import type { Progress } from "./progress.ts";
import { batchOf, type OpenQueue, openQueue } from "./queued-pull.ts";
import { removeQueue, startBatch } from "./start-batch.ts";
import { testBatch } from "./test-batch.ts";

/**
 * Does the next step of a merge queue.
 *
 * Everything is decided by what the database and the repository hold now, and each change of state
 * is conditional on the state and the batch that were read: a step may be repeated, run twice at
 * once, and end anywhere.
 *
 * Cost: a few round trips; about four for each pull request of the batch before it lands.
 */
export async function advanceQueue(
  ctx: Ctx,
  queueId: number,
  budget: WorkBudget,
): Promise<Progress> {
  budget.consume(8);
  const open = await openQueue(ctx, queueId);
  if (!open) return "waits";
  if (open === "orphaned") {
    await ctx.db.delete(mergeQueues).where(eq(mergeQueues.id, queueId));
    return "waits";
  }
  const { queue, rule, tipOid } = open;
  if (queue.state === "ending") return endBatch(ctx, open);
  if (!rule || tipOid === undefined) return abandon(ctx, open);
  if (queue.state === "idle") return startBatch(ctx, open, rule, tipOid);
  if (batchOf(open).length !== queue.batchSize) return end(ctx, open);
  if (queue.state === "landing") {
    budget.consume(4 * queue.batchSize);
    return landBatch(ctx, open, tipOid);
  }
  // Somebody else has moved the base: the same pull requests are built on top of it.
  if (tipOid !== queue.baseOid) return end(ctx, open);
  return queue.state === "building" ? buildBatch(ctx, open, rule) : testBatch(ctx, open, rule);
}

async function end(ctx: Ctx, { queue }: OpenQueue): Promise<Progress> {
  await endStatement(ctx, queue);
  return "more";
}

/** Empties a queue whose base is gone, or has no merge queue any more. */
async function abandon(ctx: Ctx, open: OpenQueue): Promise<Progress> {
  const { queue, entries, tipOid } = open;
  if (queue.state !== "idle") return end(ctx, open);
  const [first] = entries;
  if (!first) return removeQueue(ctx, open);
  const isRenamed = first.pull.baseBranch !== queue.branch;
  const reason = isRenamed ? "retargeted" : tipOid === undefined ? "base_deleted" : "queue_removed";
  return drop(ctx, open, first, { reason });
}
