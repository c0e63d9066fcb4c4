import { and, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../../context.ts";
import { mergeQueueEntries, mergeQueues } from "../../../../db/schema/index.ts";
import { StepBudget } from "../../../../lib/step-budget.ts";
import {
  type CheckResult,
  evaluateChecks,
  selectLatestStatuses,
} from "../../../code/protections/evaluate-checks.ts";
import type { MergeQueueRule } from "../../../code/protections/merge-queue-rule.ts";
import { endStatement, leaveStatements } from "./leave-queue.ts";
import type { Progress } from "./progress.ts";
import { batchOf, type OpenQueue, RETRY_MS } from "./queued-pull.ts";

/** Steps to compare contexts with patterns: about a second of processor time. */
const STEPS_MAX = 100_000_000;

/** How long a result may take to land before it is given up, in milliseconds. */
const LANDING_MS = 10 * 60 * 1000;

/** Lets the checks of a result decide about its batch. */
export async function testBatch(
  ctx: Ctx,
  open: OpenQueue,
  rule: MergeQueueRule,
): Promise<Progress> {
  const { queue, repo } = open;
  const statuses = await selectLatestStatuses(ctx.db, repo.row.id, queue.resultOid);
  const budget = new StepBudget(STEPS_MAX, {
    onSteps: (steps) => void (ctx.git.usage.steps += steps),
  });
  const results = rule.checks.map((each) => evaluateChecks(each, statuses, budget));
  if (results.includes("failure")) return failBatch(ctx, open, "checks_failed");
  if (results.every((each: CheckResult) => each === "success")) return passBatch(ctx, open);
  const isOver = queue.deadlineAt !== null && ctx.now >= queue.deadlineAt;
  return isOver ? failBatch(ctx, open, "checks_timed_out") : "waits";
}

async function passBatch(ctx: Ctx, { queue }: OpenQueue): Promise<Progress> {
  await ctx.db
    .update(mergeQueues)
    .set({ state: "landing", deadlineAt: ctx.now + LANDING_MS, dueAt: ctx.now + RETRY_MS })
    .where(
      and(
        eq(mergeQueues.id, queue.id),
        eq(mergeQueues.state, "testing"),
        eq(mergeQueues.batchNumber, queue.batchNumber),
      ),
    );
  return "more";
}

/**
 * Ends a batch whose result is not good. A pull request that is alone in it leaves the queue;
 * several of them become suspects, which are tested in halves.
 */
export async function failBatch(
  ctx: Ctx,
  open: OpenQueue,
  reason: "checks_failed" | "checks_timed_out" | "refused",
  detail = "",
): Promise<Progress> {
  const { queue, repo } = open;
  const batch = batchOf(open);
  const isOfQueue = eq(mergeQueueEntries.queueId, queue.id);
  const [only] = batch;
  if (only && batch.length === 1) {
    const leaving = { queue, repo: repo.row, entry: only.entry, number: only.number };
    await ctx.db.batch([
      ...leaveStatements(ctx, leaving, { reason, detail }),
      ctx.db
        .update(mergeQueueEntries)
        .set({ isSuspect: false })
        .where(and(isOfQueue, mergeQueueEntries.isSuspect)),
    ]);
    return "more";
  }
  await ctx.db.batch([
    endStatement(ctx, queue),
    ctx.db
      .update(mergeQueueEntries)
      .set({ isSuspect: sql`${mergeQueueEntries.isInBatch}` })
      .where(and(isOfQueue, sql`changes() > 0`)),
  ]);
  return "more";
}
