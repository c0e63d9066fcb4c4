import { and, eq, inArray, lt, ne } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { type WorkflowRun, workflowJobs, workflowRuns } from "../../../db/schema/index.ts";
import { insertRun } from "./insert-run.ts";
import type { PlannedRun } from "./plan-run.ts";
import { cancelStatements, settleRun } from "./settle-run.ts";

/**
 * Stores a planned run, cancels those of its group that it ends, and lets its first jobs wait for a
 * runner. Repeated, it goes on where it ended.
 *
 * @returns The run; undefined if the repository is gone.
 */
export async function storePlanned(
  ctx: Ctx,
  { run: planned, jobs }: PlannedRun,
): Promise<WorkflowRun | undefined> {
  const run = await insertRun(ctx, planned, jobs);
  if (!run) return undefined;
  const others = run.cancelsInProgress && !run.needsApproval ? await cancelOthers(ctx, run) : [];
  await settleRun(ctx, run.id);
  for (const id of others) await settleRun(ctx, id);
  return run;
}

/** Cancels the older runs of a group that have not ended, and returns their ids. */
export async function cancelOthers(ctx: Ctx, run: WorkflowRun): Promise<readonly number[]> {
  const { db } = ctx;
  const isOther = and(
    eq(workflowRuns.repoId, run.repoId),
    eq(workflowRuns.concurrencyGroup, run.concurrencyGroup),
    ne(workflowRuns.concurrencyGroup, ""),
    lt(workflowRuns.id, run.id),
    inArray(workflowRuns.state, ["blocked", "waiting", "running"]),
  );
  const others = db.select({ id: workflowRuns.id }).from(workflowRuns).where(isOther);
  const [, cancelled] = await db.batch(cancelStatements(ctx, inArray(workflowJobs.runId, others)));
  return [...new Set(cancelled.map(({ runId }) => runId))];
}
