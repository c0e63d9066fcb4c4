import { lte, sql } from "drizzle-orm";

import type { Ctx } from "../../../../context.ts";
import { mergeQueues } from "../../../../db/schema/index.ts";
import { logBug } from "../../../../lib/log.ts";
import { WorkBudget } from "../../../../lib/work-budget.ts";
import { advanceQueue } from "./advance-queue.ts";
import { RETRY_MS } from "./queued-pull.ts";

/** Queues of one run. */
const QUEUES_MAX = 20;
/** Work budget of one run. */
const WORK_MS = 20 * 1000;
const STATEMENTS_MAX = 500;

/**
 * Continues merge queues that no event continues: where checks are overdue, where a job ended
 * early, and where a rule was changed.
 *
 * A queue that fails does not stop the others, and is not due again at once.
 */
export async function runDueQueues(ctx: Ctx): Promise<void> {
  const budget = new WorkBudget(ctx.now, { ms: WORK_MS, statements: STATEMENTS_MAX });
  budget.consume(1);
  const due = await ctx.db
    .update(mergeQueues)
    .set({ dueAt: ctx.now + RETRY_MS })
    .where(
      sql`${mergeQueues.id} in (
        select id from ${mergeQueues} where ${lte(mergeQueues.dueAt, ctx.now)}
        order by due_at limit ${QUEUES_MAX}
      )`,
    )
    .returning({ id: mergeQueues.id });
  for (const { id } of due) {
    try {
      while (!budget.isExhausted && (await advanceQueue(ctx, id, budget)) === "more");
    } catch (error) {
      logBug(`merge-queue-${id}`, error);
    }
  }
  await ctx.eventQueues.dispatchRecorded();
}
