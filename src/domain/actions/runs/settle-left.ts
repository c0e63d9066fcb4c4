import { and, asc, eq, lte, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { workflowJobs, workflowRuns } from "../../../db/schema/index.ts";
import { logBug } from "../../../lib/log.ts";
import { WorkBudget } from "../../../lib/work-budget.ts";
import { settleRun } from "./settle-run.ts";

/** How long a change waits for the call that made it, in milliseconds. */
const LATE_MS = 30_000;
const RUNS_MAX = 50;
const WORK = { ms: 20_000, statements: 500 };

/** Settles the runs whose call ended early: changes are not recorded, or jobs not moved. */
export async function settleLeft(ctx: Ctx): Promise<void> {
  const { db, now } = ctx;
  const budget = new WorkBudget(now, WORK);
  const late = now - LATE_MS;
  const { runs, jobs, blocked } = await batch(db, {
    runs: db
      .select({ id: workflowRuns.id })
      .from(workflowRuns)
      .where(
        and(
          sql`${workflowRuns.state} <> ${workflowRuns.reportedState}`,
          lte(workflowRuns.updatedAt, late),
        ),
      )
      .limit(RUNS_MAX),
    jobs: db
      .selectDistinct({ id: workflowJobs.runId })
      .from(workflowJobs)
      .where(
        and(
          sql`${workflowJobs.state} <> ${workflowJobs.reportedState}`,
          lte(workflowJobs.updatedAt, late),
        ),
      )
      .limit(RUNS_MAX),
    blocked: db
      .select({ id: workflowRuns.id })
      .from(workflowRuns)
      .where(
        and(
          sql`${workflowRuns.state} in ('blocked', 'waiting', 'running')`,
          eq(workflowRuns.needsApproval, false),
          eq(workflowRuns.state, "blocked"),
          lte(workflowRuns.updatedAt, late),
        ),
      )
      .orderBy(asc(workflowRuns.updatedAt))
      .limit(RUNS_MAX),
  });
  for (const id of new Set([...runs, ...jobs, ...blocked].map((each) => each.id))) {
    if (budget.isExhausted) return;
    budget.consume(10);
    try {
      await settleRun(ctx, id);
    } catch (error) {
      logBug(`workflow-run-${id}`, error);
    }
  }
}
