import { and, asc, eq, inArray, lt, notExists, or, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { columnsOf } from "../../../db/db.ts";
import {
  runners,
  workflowJobs,
  workflowRuns,
  type WorkflowTask,
  workflowTasks,
  type WorkResult,
} from "../../../db/schema/index.ts";
import { cancelStatements, nextSequence, settleRun } from "../runs/settle-run.ts";
import { closeLogWith } from "./append-log.ts";
import { endSteps } from "./task-steps.ts";
import { hasResult } from "./update-task.ts";

const MINUTE_MS = 60_000;

/** How long a runner may be silent about a task, and one that is deleted, in milliseconds. */
const SILENT_MS = 10 * MINUTE_MS;
const DELETED_MS = MINUTE_MS;
/** After how long a task is lost of which its runner never said anything, in milliseconds. */
const UNHEARD_MS = 2 * MINUTE_MS;
/** How much longer than its `timeout-minutes` a job may take, since its runner ends it first. */
const OVERTIME_MS = 10 * MINUTE_MS;
/** How long a job waits for a runner, in milliseconds. */
const WAITING_MS = 24 * 60 * MINUTE_MS;
/** How long a run waits for an approval, in milliseconds. */
const UNAPPROVED_MS = 30 * 24 * 60 * MINUTE_MS;
/** How long a runner may go on with the log of a task that was cancelled, in milliseconds. */
const OPEN_LOG_MS = 5 * MINUTE_MS;

/** Tasks, and runs, that one call ends, at most. */
const TASKS_MAX = 50;
const RUNS_MAX = 20;

/**
 * Ends tasks whose runners are gone: they fail. A task of which its runner never said anything was
 * lost on the way, and its job waits again.
 */
export async function endSilentTasks(ctx: Ctx): Promise<void> {
  const { db, now } = ctx;
  const hasRunner = db
    .select({ id: runners.id })
    .from(runners)
    .where(eq(runners.id, workflowTasks.runnerId));
  const isUnheard = and(
    eq(workflowTasks.updatedAt, workflowTasks.startedAt),
    lt(workflowTasks.updatedAt, now - UNHEARD_MS),
  );
  const found = await db
    .select()
    .from(workflowTasks)
    .where(
      and(
        sql`${workflowTasks.state} = 'running'`,
        lt(workflowTasks.updatedAt, now - DELETED_MS),
        or(lt(workflowTasks.updatedAt, now - SILENT_MS), isUnheard, notExists(hasRunner)),
      ),
    )
    .orderBy(asc(workflowTasks.updatedAt))
    .limit(TASKS_MAX);
  for (const task of found) {
    if (task.updatedAt === task.startedAt) await requeue(ctx, task);
    else await endTask(ctx, task, "failure", "The runner has stopped reporting.");
  }
}

/** Ends tasks that take longer than their job may. */
export async function endEndlessTasks(ctx: Ctx): Promise<void> {
  const { db, now } = ctx;
  const found = await db
    .select({ task: columnsOf(workflowTasks, "t") })
    .from(workflowTasks)
    .innerJoin(workflowJobs, eq(workflowJobs.id, workflowTasks.jobId))
    .where(
      and(
        sql`${workflowTasks.state} = 'running'`,
        sql`${workflowTasks.startedAt} + ${workflowJobs.timeoutMinutes} * ${MINUTE_MS}
          < ${now - OVERTIME_MS}`,
      ),
    )
    .limit(TASKS_MAX);
  for (const { task } of found) await endTask(ctx, task, "failure", "The job has taken too long.");
}

/** Cancels jobs that no runner has taken. */
export async function cancelAbandonedJobs(ctx: Ctx): Promise<void> {
  const { db, now } = ctx;
  const abandoned = await db
    .select({ id: workflowJobs.id })
    .from(workflowJobs)
    .where(
      and(
        sql`${workflowJobs.state} = 'waiting'`,
        lt(workflowJobs.readySequence, now - WAITING_MS),
        lt(workflowJobs.updatedAt, now - WAITING_MS),
      ),
    )
    .orderBy(asc(workflowJobs.readySequence))
    .limit(TASKS_MAX);
  const ids = JSON.stringify(abandoned.map(({ id }) => id));
  const cancelled = await db
    .update(workflowJobs)
    .set({ state: "cancelled", stoppedAt: now, updatedAt: now })
    .where(
      and(
        sql`${workflowJobs.id} in (select value from json_each(${ids}))`,
        eq(workflowJobs.state, "waiting"),
      ),
    )
    .returning({ runId: workflowJobs.runId });
  for (const runId of new Set(cancelled.map((job) => job.runId))) await settleRun(ctx, runId);
}

/** Cancels runs that nobody has approved. */
export async function cancelUnapprovedRuns(ctx: Ctx): Promise<void> {
  const { db, now } = ctx;
  const isUnapproved = sql`${workflowRuns.needsApproval} = 1 and ${workflowRuns.state} = 'blocked'`;
  const found = await db
    .select({ id: workflowRuns.id })
    .from(workflowRuns)
    .where(and(isUnapproved, lt(workflowRuns.updatedAt, now - UNAPPROVED_MS)))
    .orderBy(asc(workflowRuns.updatedAt))
    .limit(RUNS_MAX);
  for (const { id } of found) {
    const isThis = and(eq(workflowRuns.id, id), isUnapproved);
    const runs = db.select({ id: workflowRuns.id }).from(workflowRuns).where(isThis);
    await db.batch(cancelStatements(ctx, inArray(workflowJobs.runId, runs)));
    await settleRun(ctx, id);
  }
}

/** Closes the logs of tasks that were cancelled, and whose runners say nothing more. */
export async function closeLogs(ctx: Ctx): Promise<void> {
  const { db, now } = ctx;
  const found = await db
    .select()
    .from(workflowTasks)
    .where(
      and(
        sql`${workflowTasks.isLogClosed} = 0 and ${workflowTasks.state} <> 'running'`,
        lt(workflowTasks.updatedAt, now - OPEN_LOG_MS),
      ),
    )
    .orderBy(asc(workflowTasks.updatedAt))
    .limit(TASKS_MAX);
  for (const task of found) {
    await closeLogWith(ctx, task, `The log ends here: the job has ended as ${task.state}.`);
  }
}

/**
 * Ends a running task on behalf of the service, with the reason in its log. One that has ended or
 * reported since it was read stays.
 */
async function endTask(
  ctx: Ctx,
  task: WorkflowTask,
  result: WorkResult,
  reason: string,
): Promise<void> {
  const { db, now } = ctx;
  const { ended } = await batch(db, {
    ended: db
      .update(workflowTasks)
      .set({ state: result, steps: endSteps(task.steps, result, now), stoppedAt: now })
      .where(
        and(
          eq(workflowTasks.id, task.id),
          eq(workflowTasks.state, "running"),
          eq(workflowTasks.updatedAt, task.updatedAt),
        ),
      )
      .returning({ id: workflowTasks.id }),
    job: db
      .update(workflowJobs)
      .set({ state: result, stoppedAt: now, updatedAt: now })
      .where(
        and(
          eq(workflowJobs.taskId, task.id),
          eq(workflowJobs.state, "running"),
          hasResult(task, result),
        ),
      ),
  });
  if (ended.length === 0) return;
  if (!task.isLogClosed) await closeLogWith(ctx, task, `::error::${reason}`);
  await settleRun(ctx, task.runId);
}

/** Lets the job of a task wait again. The runner, should it have the task, is told to stop. */
async function requeue(ctx: Ctx, task: WorkflowTask): Promise<void> {
  const { db, now } = ctx;
  await batch(db, {
    ended: db
      .update(workflowTasks)
      .set({ state: "cancelled", isLogClosed: true, stoppedAt: now })
      .where(
        and(
          eq(workflowTasks.id, task.id),
          eq(workflowTasks.state, "running"),
          eq(workflowTasks.updatedAt, workflowTasks.startedAt),
        ),
      ),
    job: db
      .update(workflowJobs)
      .set({
        state: "waiting",
        readySequence: nextSequence(now),
        startedAt: null,
        updatedAt: now,
      })
      .where(
        and(
          eq(workflowJobs.taskId, task.id),
          eq(workflowJobs.state, "running"),
          hasResult(task, "cancelled"),
        ),
      ),
  });
  await settleRun(ctx, task.runId);
}
