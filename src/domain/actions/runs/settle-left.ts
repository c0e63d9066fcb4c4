import { and, asc, lte, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { workflowJobs, workflowRuns } from "../../../db/schema/index.ts";
import { logBug } from "../../../lib/log.ts";
import { WorkBudget } from "../../../lib/work-budget.ts";
import { settleRun } from "./settle-run.ts";

/** How long a change waits for the call that made it, in milliseconds. */
const LATE_MS = 30_000;
/** How often the schedule looks at a run that has not ended, in milliseconds. */
const CHECKED_MS = 10 * 60 * 1000;
/** Runs of each kind that one call settles. */
const RUNS_MAX = 30;
const WORK = { ms: 20_000, statements: 900 };

/**
 * Settles the runs whose call ended early: changes are not recorded, or jobs not moved. What has
 * not ended is looked at in turns, since it does not show whether something holds it.
 */
export async function settleLeft(ctx: Ctx): Promise<void> {
  const { db, now } = ctx;
  const budget = new WorkBudget(now, WORK);
  const late = now - LATE_MS;
  const { runs, jobs, open } = await batch(db, {
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
    open: db
      .select({ id: workflowRuns.id })
      .from(workflowRuns)
      .where(
        and(
          sql`${workflowRuns.state} in ('blocked', 'waiting', 'running')`,
          lte(workflowRuns.checkedAt, now - CHECKED_MS),
          lte(workflowRuns.updatedAt, late),
        ),
      )
      .orderBy(asc(workflowRuns.checkedAt))
      .limit(RUNS_MAX),
  });
  const checked = JSON.stringify(open.map(({ id }) => id));
  if (open.length > 0) {
    await db
      .update(workflowRuns)
      .set({ checkedAt: now })
      .where(sql`${workflowRuns.id} in (select value from json_each(${checked}))`);
  }
  for (const id of new Set([...runs, ...jobs, ...open].map((each) => each.id))) {
    if (budget.isExhausted) return;
    budget.consume(10);
    try {
      await settleRun(ctx, id);
    } catch (error) {
      logBug(`workflow-run-${id}`, error);
    }
  }
}
