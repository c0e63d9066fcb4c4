import { and, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { repositories, workflowRuns, workflowTasks } from "../../../db/schema/index.ts";
import { unauthenticated } from "../../../lib/failure.ts";
import { readRuntimeToken } from "../tasks/runtime-token.ts";

/** A running task, whose actions store and read the artifacts of its run. */
export interface ArtifactTask {
  readonly id: number;
  readonly jobId: number;
  readonly runId: number;
  readonly repoId: number;
  /** The attempt of the run. */
  readonly runAttempt: number;
}

/**
 * Finds the task of a runtime token, in one round trip.
 *
 * @throws Failure `unauthenticated` for a token that is none, has expired, or whose task has ended.
 */
export async function findArtifactTask(ctx: Ctx, token: string): Promise<ArtifactTask> {
  const claims = await readRuntimeToken(ctx, token);
  if (!claims) throw unauthenticated("the runtime token is invalid or has expired");
  const [task] = await runningTask(ctx.db, claims);
  if (!task) throw unauthenticated("the task of the runtime token has ended");
  return task;
}

interface TaskIds {
  readonly taskId: number;
  readonly runId: number;
  readonly jobId: number;
}

const runningTask = prepare((db, { taskId, runId, jobId }: Params<TaskIds>) =>
  db
    .select({
      id: workflowTasks.id,
      jobId: workflowTasks.jobId,
      runId: workflowTasks.runId,
      repoId: workflowTasks.repoId,
      runAttempt: sql<number>`${workflowRuns.attempt}`.as("run_attempt"),
    })
    .from(workflowTasks)
    .innerJoin(workflowRuns, eq(workflowRuns.id, workflowTasks.runId))
    .innerJoin(repositories, eq(repositories.id, workflowTasks.repoId))
    .where(
      and(
        eq(workflowTasks.id, taskId),
        eq(workflowTasks.runId, runId),
        eq(workflowTasks.jobId, jobId),
        eq(workflowTasks.state, "running"),
      ),
    ),
);
