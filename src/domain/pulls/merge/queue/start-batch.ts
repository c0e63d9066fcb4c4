import { and, eq, notExists, sql } from "drizzle-orm";

import type { Ctx } from "../../../../context.ts";
import { mergeQueueEntries, mergeQueues } from "../../../../db/schema/index.ts";
import type { MergeQueueRule } from "../../../code/protections/merge-queue-rule.ts";
import type { Progress } from "./progress.ts";
import { type OpenQueue, type QueuedPull, RETRY_MS } from "./queued-pull.ts";
import { removeQueueRefs } from "./remove-queue-refs.ts";

/** Puts the first pull requests into a batch, or removes the queue if there are none. */
export async function startBatch(
  ctx: Ctx,
  open: OpenQueue,
  rule: MergeQueueRule,
  tipOid: string,
): Promise<Progress> {
  const { queue, entries } = open;
  if (entries.length === 0) return removeQueue(ctx, open);
  const chosen = chooseBatch(entries, rule);
  const ids = JSON.stringify(chosen.map(({ entry }) => entry.id));
  await ctx.db.batch([
    ctx.db
      .update(mergeQueues)
      .set({
        state: "building",
        batchNumber: queue.batchNumber + 1,
        batchSize: chosen.length,
        baseOid: tipOid,
        resultOid: "",
        dueAt: ctx.now + RETRY_MS,
      })
      .where(
        and(
          eq(mergeQueues.id, queue.id),
          eq(mergeQueues.state, "idle"),
          eq(mergeQueues.batchNumber, queue.batchNumber),
        ),
      ),
    ctx.db
      .update(mergeQueueEntries)
      .set({ isInBatch: sql`${mergeQueueEntries.id} in (select value from json_each(${ids}))` })
      .where(and(eq(mergeQueueEntries.queueId, queue.id), sql`changes() > 0`)),
  ]);
  return "more";
}

/**
 * The pull requests of the next batch: the first ones, as many as the rule says. Of those in a
 * batch that failed the first half, so that halves find the one that is the cause.
 */
function chooseBatch(
  entries: readonly QueuedPull[],
  { batchSize }: MergeQueueRule,
): readonly QueuedPull[] {
  const suspects = entries.filter(({ entry }) => entry.isSuspect).length;
  const size = suspects > 0 ? Math.ceil(suspects / 2) : batchSize;
  return entries.slice(0, Math.min(size, batchSize));
}

/** Removes an empty queue, as long as it is empty. */
export async function removeQueue(ctx: Ctx, open: OpenQueue): Promise<Progress> {
  await removeQueueRefs(ctx, open);
  const { id } = open.queue;
  await ctx.db
    .delete(mergeQueues)
    .where(
      and(
        eq(mergeQueues.id, id),
        notExists(
          ctx.db
            .select({ id: mergeQueueEntries.id })
            .from(mergeQueueEntries)
            .where(eq(mergeQueueEntries.queueId, id)),
        ),
      ),
    );
  return "waits";
}
