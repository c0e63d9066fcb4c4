import { and, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../../context.ts";
import { mergeQueueEntries, mergeQueues } from "../../../../db/schema/index.ts";
import type { Progress } from "./progress.ts";
import { type OpenQueue, RETRY_MS } from "./queued-pull.ts";
import { removeQueueRefs } from "./remove-queue-refs.ts";

/** Deletes the branch of a batch that is over, and makes room for the next one. */
export async function endBatch(ctx: Ctx, open: OpenQueue): Promise<Progress> {
  const { id, batchNumber } = open.queue;
  await removeQueueRefs(ctx, open);
  await ctx.db.batch([
    ctx.db
      .update(mergeQueues)
      .set({
        state: "idle",
        batchSize: 0,
        baseOid: "",
        resultOid: "",
        deadlineAt: null,
        dueAt: ctx.now + RETRY_MS,
      })
      .where(
        and(
          eq(mergeQueues.id, id),
          eq(mergeQueues.state, "ending"),
          eq(mergeQueues.batchNumber, batchNumber),
        ),
      ),
    ctx.db
      .update(mergeQueueEntries)
      .set({ isInBatch: false })
      .where(and(eq(mergeQueueEntries.queueId, id), sql`changes() > 0`)),
  ]);
  return "more";
}
