import { and, desc, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import {
  repositories,
  runners,
  users,
  workflowJobs,
  workflowRuns,
  workflowTasks,
  type WorkState,
} from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";
import { type ActionsLevel, type LevelArgument, levelArgument } from "../level.ts";
import type { RunnerWithWork } from "./runner-state.ts";
import { isSeenAt, selectRunners } from "./select-runners.ts";

/** A task that a runner got. Times are in milliseconds. */
export interface RunnerTask {
  readonly id: number;
  readonly state: WorkState;
  readonly startedAt: number;
  readonly stoppedAt: number | null;
  /** The name of its job, and the job's place in its run, from 0. */
  readonly jobName: string;
  readonly position: number;
  readonly runNumber: number;
  readonly owner: string;
  readonly repo: string;
}

/**
 * Finds a runner with its latest tasks, the newest first, of repositories that still exist. Who
 * administers a level sees the tasks of its runners: they are of repositories of that level.
 *
 * @throws Failure `not_found` as `findRunner`.
 */
export async function findRunnerWithTasks(
  { db }: Ctx,
  level: ActionsLevel,
  id: number,
  size: number,
): Promise<{ runner: RunnerWithWork; tasks: RunnerTask[] }> {
  const found = await batch(db, runnerAndTasks(db, { id, level: levelArgument(level), size }));
  const [runner] = found.runner;
  if (!runner) throw notFound();
  return { runner, tasks: found.tasks };
}

const runnerAndTasks = prepareAll(
  (db, p: Params<{ id: number; level: LevelArgument; size: number }>) => {
    const isRunner = and(eq(runners.id, p.id), isSeenAt(p.level));
    return {
      runner: selectRunners(db).where(isRunner),
      tasks: db
        .select({
          id: workflowTasks.id,
          state: workflowTasks.state,
          startedAt: workflowTasks.startedAt,
          stoppedAt: workflowTasks.stoppedAt,
          jobName: sql<string>`${workflowJobs.name}`.as("job_name"),
          position: workflowJobs.position,
          runNumber: workflowRuns.number,
          owner: sql<string>`${users.name}`.as("owner_name"),
          repo: sql<string>`${repositories.name}`.as("repo_name"),
        })
        .from(workflowTasks)
        .innerJoin(runners, and(eq(runners.id, workflowTasks.runnerId), isSeenAt(p.level)))
        .innerJoin(workflowJobs, eq(workflowJobs.id, workflowTasks.jobId))
        .innerJoin(workflowRuns, eq(workflowRuns.id, workflowJobs.runId))
        .innerJoin(repositories, eq(repositories.id, workflowTasks.repoId))
        .innerJoin(users, eq(users.id, repositories.ownerId))
        .where(eq(workflowTasks.runnerId, p.id))
        .orderBy(desc(workflowTasks.id))
        .limit(p.size),
    };
  },
);
