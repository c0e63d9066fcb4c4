import { and, asc, desc, eq, gt, isNull, ne, or, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { columnsOf } from "../../../db/db.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import {
  type Repository,
  runners,
  type User,
  users,
  type WorkflowArtifact,
  workflowArtifacts,
  type WorkflowJob,
  workflowJobs,
  type WorkflowRun,
  workflowRuns,
  type WorkflowTask,
  workflowTasks,
} from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";
import { OFFLINE_MS } from "../runners/runner-state.ts";

const { payload: _event, ...runColumns } = columnsOf(workflowRuns, "r");
const { payload: _file, outputs: _outputs, ...jobColumns } = columnsOf(workflowJobs, "j");
const { outputs: _taskOutputs, tokenHash: _token, ...taskColumns } = columnsOf(workflowTasks, "t");

/** A job as pages show it. */
export type ShownJob = Omit<WorkflowJob, "payload" | "outputs">;

/** A run with what its page shows. */
export interface ShownRun {
  readonly run: Omit<WorkflowRun, "payload">;
  /** Undefined for the schedule, and for an account that is gone. */
  readonly actor: User | undefined;
  /** In the order of the file. */
  readonly jobs: readonly ShownJob[];
  /** The newest of each name. */
  readonly artifacts: readonly WorkflowArtifact[];
  /** The labels of each runner that is online and gets jobs of the repository, in lower case. */
  readonly runnerLabels: readonly (readonly string[])[];
  /** The run of the same group that goes first, for one that waits. */
  readonly holder: Pick<WorkflowRun, "number" | "title"> | undefined;
}

/** Runners whose labels are looked at. */
const RUNNERS_MAX = 1000;
/** Artifacts that are shown. */
const ARTIFACTS_MAX = 500;

/**
 * Reads a run by its number in a repository, in one round trip.
 *
 * @throws Failure `not_found`.
 */
export async function readRun(
  { db, now }: Ctx,
  { id: repoId, ownerId }: Pick<Repository, "id" | "ownerId">,
  number: number,
): Promise<ShownRun> {
  const since = now - OFFLINE_MS;
  const found = await batch(db, runByNumber(db, { repoId, ownerId, number, since }));
  const [row] = found.rows;
  if (!row) throw notFound();
  return {
    run: row.run,
    actor: row.actor ?? undefined,
    jobs: found.jobs,
    artifacts: [...Map.groupBy(found.artifacts, ({ name }) => name).values()].flatMap((named) =>
      named.slice(0, 1),
    ),
    runnerLabels: found.runners.map(({ labels }) => labels.map((label) => label.toLowerCase())),
    holder: found.holders[0],
  };
}

interface RunByNumber {
  readonly repoId: number;
  readonly ownerId: number;
  readonly number: number;
  readonly since: number;
}

const held = alias(workflowRuns, "held");

const runByNumber = prepareAll((db, p: Params<RunByNumber>) => {
  const isRun = and(eq(workflowRuns.repoId, p.repoId), eq(workflowRuns.number, p.number));
  return {
    rows: db
      .select({ run: runColumns, actor: columnsOf(users, "a") })
      .from(workflowRuns)
      .leftJoin(users, eq(users.id, workflowRuns.actorId))
      .where(isRun),
    jobs: db
      .select(jobColumns)
      .from(workflowRuns)
      .innerJoin(workflowJobs, eq(workflowJobs.runId, workflowRuns.id))
      .where(isRun)
      .orderBy(asc(workflowJobs.position)),
    artifacts: db
      .select(columnsOf(workflowArtifacts, "f"))
      .from(workflowRuns)
      .innerJoin(workflowArtifacts, eq(workflowArtifacts.runId, workflowRuns.id))
      .where(and(isRun, ne(workflowArtifacts.state, "pending")))
      .orderBy(desc(workflowArtifacts.id))
      .limit(ARTIFACTS_MAX),
    runners: db
      .select({ labels: runners.labels })
      .from(runners)
      .where(
        and(
          or(
            eq(runners.repoId, p.repoId),
            eq(runners.ownerId, p.ownerId),
            and(isNull(runners.ownerId), isNull(runners.repoId)),
          ),
          isNull(runners.endedAt),
          eq(runners.isDisabled, false),
          gt(runners.lastOnlineAt, p.since),
        ),
      )
      .limit(RUNNERS_MAX),
    holders: db
      .select({ number: workflowRuns.number, title: workflowRuns.title })
      .from(held)
      .innerJoin(
        workflowRuns,
        and(
          eq(workflowRuns.repoId, held.repoId),
          eq(workflowRuns.concurrencyGroup, held.concurrencyGroup),
          sql`${workflowRuns.concurrencyGroup} <> ''`,
          sql`${workflowRuns.state} in ('blocked', 'waiting', 'running')`,
          eq(workflowRuns.needsApproval, false),
          sql`(${workflowRuns.id} < ${held.id} or ${workflowRuns.state} <> 'blocked')`,
          sql`${workflowRuns.id} <> ${held.id}`,
        ),
      )
      .where(and(eq(held.repoId, p.repoId), eq(held.number, p.number), eq(held.state, "blocked")))
      .orderBy(asc(workflowRuns.id))
      .limit(1),
  };
});

/** An attempt at a job as pages show it. */
export type ShownTask = Omit<WorkflowTask, "outputs" | "tokenHash">;

/** A job with its run, the others of the run and its attempts. */
export interface ShownJobOfRun {
  readonly run: Omit<WorkflowRun, "payload">;
  readonly job: ShownJob;
  readonly jobs: readonly ShownJob[];
  /** The last ones, newest first. */
  readonly tasks: readonly ShownTask[];
}

/** Attempts that are shown. */
const ATTEMPTS_MAX = 30;

/**
 * Reads a job of a run, by its position there, in one round trip.
 *
 * @throws Failure `not_found`.
 */
export async function readJob(
  { db }: Ctx,
  { id: repoId }: Pick<Repository, "id">,
  number: number,
  position: number,
): Promise<ShownJobOfRun> {
  const { runs, jobs, tasks } = await batch(db, jobByPosition(db, { repoId, number, position }));
  const [run] = runs;
  const job = jobs.find((each) => each.position === position);
  if (!run || !job) throw notFound();
  return { run, job, jobs, tasks };
}

interface JobByPosition {
  readonly repoId: number;
  readonly number: number;
  readonly position: number;
}

const jobByPosition = prepareAll((db, p: Params<JobByPosition>) => {
  const isRun = and(eq(workflowRuns.repoId, p.repoId), eq(workflowRuns.number, p.number));
  return {
    runs: db.select(runColumns).from(workflowRuns).where(isRun),
    jobs: db
      .select(jobColumns)
      .from(workflowRuns)
      .innerJoin(workflowJobs, eq(workflowJobs.runId, workflowRuns.id))
      .where(isRun)
      .orderBy(asc(workflowJobs.position)),
    tasks: db
      .select(taskColumns)
      .from(workflowRuns)
      .innerJoin(workflowJobs, eq(workflowJobs.runId, workflowRuns.id))
      .innerJoin(workflowTasks, eq(workflowTasks.jobId, workflowJobs.id))
      .where(and(isRun, eq(workflowJobs.position, p.position)))
      .orderBy(desc(workflowTasks.attempt))
      .limit(ATTEMPTS_MAX),
  };
});
