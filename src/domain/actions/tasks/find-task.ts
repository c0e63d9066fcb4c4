import { and, eq } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { columnsOf, flagColumn } from "../../../db/db.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import {
  type Runner,
  runners,
  workflowJobs,
  workflowRuns,
  type WorkflowTask,
  workflowTasks,
} from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";
import { noteOnline } from "../runners/poll-runner.ts";
import { isRunnerOf, type RunnerCredential, unregistered } from "../runners/runner-credential.ts";
import type { SecretsOwner } from "./task-secrets.ts";

/** A task with its runner. */
export interface TaskOfRunner extends SecretsOwner {
  readonly runner: Runner;
  readonly task: WorkflowTask;
}

/**
 * Finds a task of a runner, in one round trip.
 *
 * @throws Failure `unauthenticated` for an unknown runner, `not_found` for a task of another one.
 */
export async function findTaskOfRunner(
  ctx: Ctx,
  credential: RunnerCredential,
  taskId: number,
): Promise<TaskOfRunner> {
  const [found] = await taskOfRunner(ctx.db, { credential, taskId });
  if (!found) throw unregistered();
  noteOnline(ctx, found.runner);
  const { runner, task, ownerId, isFromFork } = found;
  if (!task || ownerId === null) throw notFound("the runner has no such task");
  return { runner, task, repoId: task.repoId, ownerId, isFromFork };
}

interface Searched {
  readonly credential: RunnerCredential;
  readonly taskId: number;
}

const taskOfRunner = prepare((db, { credential, taskId }: Params<Searched>) =>
  db
    .select({
      runner: columnsOf(runners, "r"),
      task: columnsOf(workflowTasks, "t"),
      ownerId: workflowJobs.ownerId,
      isFromFork: flagColumn(eq(workflowRuns.isFromFork, true), "is_from_fork"),
    })
    .from(runners)
    .leftJoin(
      workflowTasks,
      and(eq(workflowTasks.id, taskId), eq(workflowTasks.runnerId, runners.id)),
    )
    .leftJoin(workflowJobs, eq(workflowJobs.id, workflowTasks.jobId))
    .leftJoin(workflowRuns, eq(workflowRuns.id, workflowTasks.runId))
    .where(isRunnerOf(credential)),
);
