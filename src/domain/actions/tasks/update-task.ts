import { and, eq, type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import {
  workflowJobs,
  type WorkflowTask,
  workflowTasks,
  type WorkResult,
  type WorkState,
} from "../../../db/schema/index.ts";
import { conflict } from "../../../lib/failure.ts";
import type { RunnerCredential } from "../runners/runner-credential.ts";
import { isFinal } from "../../../shapes/actions/work-status.ts";
import { settleRun } from "../runs/settle-run.ts";
import { closeLogWith } from "./append-log.ts";
import { findTaskOfRunner, type TaskOfRunner } from "./find-task.ts";
import { taskMask } from "./mask.ts";
import { mergeOutputs } from "./task-outputs.ts";
import { readTaskSecrets } from "./task-secrets.ts";
import { endSteps, type StepReport, withReports } from "./task-steps.ts";

/** After how long without a change a sign of life is noted anew, in milliseconds. */
const NOTED_MS = 30_000;

/** How often a report is tried against others of the same task. */
const TRIES_MAX = 3;

/** What a runner says of a task. */
export interface TaskReport {
  readonly taskId: number;
  /** How the task ended; undefined while it runs. */
  readonly result: WorkResult | undefined;
  /** In milliseconds. */
  readonly stoppedAt: number | undefined;
  readonly steps: readonly StepReport[];
  /** Those that no answer has confirmed. */
  readonly outputs: Readonly<Record<string, string>>;
}

/** The state of a task for its runner. */
export interface TaskAnswer {
  /** A final one that the runner did not report: it stops. */
  readonly state: WorkState;
  /** The names of outputs that the runner need not send again. */
  readonly outputs: readonly string[];
}

/**
 * Takes the report of a runner. A task that has ended stays as it is, whatever is reported: a
 * report may be repeated, come late and meet others.
 *
 * Cost: one round trip where nothing is new, two for a change; the end of a task settles its run.
 *
 * @throws Failure `unauthenticated` for an unknown runner, `not_found` for a task of another one.
 */
export async function updateTask(
  ctx: Ctx,
  credential: RunnerCredential,
  report: TaskReport,
): Promise<TaskAnswer> {
  for (let attempt = 0; attempt < TRIES_MAX; attempt++) {
    const found = await findTaskOfRunner(ctx, credential, report.taskId);
    const answer = isFinal(found.task.state)
      ? await noteLastSteps(ctx, found.task, report)
      : await takeReport(ctx, found, report);
    if (answer) return answer;
  }
  throw conflict("another report of the task is being stored");
}

/** Undefined if another report was stored meanwhile. */
async function takeReport(
  ctx: Ctx,
  found: TaskOfRunner,
  report: TaskReport,
): Promise<TaskAnswer | undefined> {
  const { db, now } = ctx;
  const { task } = found;
  const { result } = report;
  const reported = withReports(task.steps, report.steps);
  const stoppedAt = Math.max(task.startedAt, Math.min(report.stoppedAt ?? now, now));
  const steps = result === undefined ? reported : endSteps(reported, result, stoppedAt);
  const { outputs, warnings } = await addOutputs(ctx, found, report.outputs);
  const stored = {
    steps,
    outputs,
    ...(result !== undefined && { state: result, stoppedAt }),
  };
  const answer = toAnswer({ ...task, ...stored }, report);
  const isSame =
    result === undefined && isEqual(steps, task.steps) && isEqual(outputs, task.outputs);
  if (isSame && warnings.length === 0 && !isSilent(task, now)) return answer;
  const { changed } = await batch(db, {
    changed: db
      .update(workflowTasks)
      .set({ ...stored, updatedAt: Math.max(now, task.startedAt + 1) })
      .where(isUnchanged(task))
      .returning({ id: workflowTasks.id }),
    job:
      result === undefined
        ? undefined
        : db
            .update(workflowJobs)
            .set({ state: result, outputs, stoppedAt, updatedAt: now })
            .where(
              and(
                eq(workflowJobs.taskId, task.id),
                eq(workflowJobs.state, "running"),
                hasResult(task, result),
              ),
            ),
  });
  if (changed.length === 0) return undefined;
  // Runners close the log before they report the end, and old ones break off for foreign rows.
  if (warnings.length > 0 && task.isLogClosed) {
    await closeLogWith(ctx, task, ...warnings.map((warning) => `::warning::${warning}`));
  }
  if (result !== undefined) await settleRun(ctx, task.runId);
  return answer;
}

/** The condition that a running task is as it was read. */
const isUnchanged = ({ id, steps, outputs }: WorkflowTask) =>
  and(
    eq(workflowTasks.id, id),
    eq(workflowTasks.state, "running"),
    eq(workflowTasks.steps, steps),
    eq(workflowTasks.outputs, outputs),
  );

/** The condition, on no row, that a task has ended so. */
export const hasResult = ({ id }: Pick<WorkflowTask, "id">, result: WorkResult): SQL => sql`(
  select ${workflowTasks.state} from ${workflowTasks} where ${workflowTasks.id} = ${id}
) = ${result}`;

/** Whether nothing was noted of a task for long, or nothing but that it was handed out. */
const isSilent = ({ startedAt, updatedAt }: WorkflowTask, now: number): boolean =>
  updatedAt === startedAt || now - updatedAt > NOTED_MS;

async function addOutputs(
  ctx: Ctx,
  { task, ...owner }: TaskOfRunner,
  reported: TaskReport["outputs"],
) {
  const isNew = Object.keys(reported).some((name) => !Object.hasOwn(task.outputs, name));
  if (!isNew) return { outputs: task.outputs, warnings: [] };
  const secrets = await readTaskSecrets(ctx, task, owner);
  return mergeOutputs(task.outputs, reported, taskMask(task, secrets));
}

/**
 * Notes the steps that a runner goes on with after its task has ended, such as those that clean up
 * after a cancellation, so that their rows of the log are found.
 */
async function noteLastSteps(
  { db }: Ctx,
  task: WorkflowTask,
  report: TaskReport,
): Promise<TaskAnswer> {
  const steps = withLogs(task, report);
  if (!task.isLogClosed && !isEqual(steps, task.steps)) {
    await db.update(workflowTasks).set({ steps }).where(eq(workflowTasks.id, task.id));
  }
  return toAnswer(task, report);
}

const withLogs = ({ steps }: WorkflowTask, { steps: reports }: TaskReport) => {
  const byIndex = new Map(reports.map((report) => [report.index, report]));
  return steps.map((step, at) => {
    const { logIndex, logLength } = byIndex.get(at) ?? step;
    return logLength > step.logLength ? { ...step, logIndex, logLength } : step;
  });
};

const toAnswer = ({ state, outputs }: WorkflowTask, report: TaskReport): TaskAnswer => ({
  state,
  // Also those that were left out, or the runner would send them for ever.
  outputs: [...new Set([...Object.keys(outputs), ...Object.keys(report.outputs)])],
});

const isEqual = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);
