import { and, count, desc, eq, gt, inArray, type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { columnsOf, type Database } from "../../../db/db.ts";
import { type Params, prepare, prepareAll } from "../../../db/prepared.ts";
import {
  repositories,
  type User,
  users,
  type WorkflowJob,
  workflowJobs,
  type WorkflowRun,
  workflowRuns,
  type WorkflowTask,
  workflowTasks,
  type WorkState,
} from "../../../db/schema/index.ts";
import { type Listed, type Slice, toListedPage } from "../../slice.ts";
import type { LevelArgument } from "../level.ts";

/** A run without the event that caused it, and who caused it. */
export interface ListedRun {
  readonly run: Omit<WorkflowRun, "payload">;
  /** Undefined for the schedule, and for an account that is gone. */
  readonly actor: User | undefined;
}

/** Which runs, or jobs of runs, a list has. */
export interface RunFilter {
  /** The repository, all of an account, or all. */
  readonly of: LevelArgument;
  readonly runId?: number | undefined;
  readonly file?: string | undefined;
  readonly event?: string | undefined;
  /** The short name of a branch or tag. */
  readonly branch?: string | undefined;
  readonly states?: readonly WorkState[] | undefined;
  /** The lower-case name of who caused it. */
  readonly actor?: string | undefined;
  readonly headOid?: string | undefined;
}

const { payload: _event, ...runColumns } = columnsOf(workflowRuns, "r");

function conditionOf(filter: RunFilter | Params<RunFilter>): SQL | undefined {
  const { of, runId, file, event, branch, actor, headOid } = filter;
  const isOfPlace =
    "isService" in of
      ? gt(workflowRuns.id, 0)
      : "repoId" in of
        ? eq(workflowRuns.repoId, of.repoId)
        : sql`${workflowRuns.repoId} in (
            select ${repositories.id} from ${repositories}
            where ${repositories.ownerId} = ${of.ownerId}
          )`;
  return and(
    isOfPlace,
    runId === undefined ? undefined : eq(workflowRuns.id, runId),
    file === undefined ? undefined : eq(workflowRuns.file, file),
    event === undefined ? undefined : eq(workflowRuns.event, event),
    branch === undefined ? undefined : eq(workflowRuns.headBranch, branch),
    headOid === undefined ? undefined : eq(workflowRuns.headOid, headOid),
    actor === undefined
      ? undefined
      : sql`${workflowRuns.actorId} = (select id from ${users} a where a.lower_name = ${actor})`,
  );
}

/** Lists runs, newest first. */
export const listRuns = async (
  { db }: Ctx,
  filter: RunFilter,
  { size, offset }: Slice,
): Promise<Listed<ListedRun>> =>
  toListedPage(
    await batch(db, pageOfRuns(db, { filter, size, offset })),
    ({ run, actor }): ListedRun => ({ run, actor: actor ?? undefined }),
  );

const pageOfRuns = prepareAll((db, p: Params<{ filter: RunFilter } & Slice>) => {
  const { filter } = p;
  const { states } = filter;
  const isListed = and(conditionOf(filter), states && inArray(workflowRuns.state, states));
  return {
    rows: db
      .select({ run: runColumns, actor: columnsOf(users, "a") })
      .from(workflowRuns)
      .leftJoin(users, eq(users.id, workflowRuns.actorId))
      .where(isListed)
      // The order of numbers is that of ids, and each has its index.
      .orderBy(desc("repoId" in filter.of ? workflowRuns.number : workflowRuns.id))
      .limit(p.size)
      .offset(p.offset),
    counted: db
      .select({ total: count().as("total") })
      .from(workflowRuns)
      .where(isListed),
  };
});

/** A job with its run, and the runner of its present task. */
export interface ListedJob {
  readonly job: Omit<WorkflowJob, "payload" | "outputs">;
  readonly run: Omit<WorkflowRun, "payload">;
  /** Null before a runner has it. */
  readonly task: Pick<WorkflowTask, "id" | "runnerId" | "runnerName" | "steps"> | null;
}

const { payload: _file, outputs: _outputs, ...jobColumns } = columnsOf(workflowJobs, "j");

/** Lists jobs: those of one run in its order, others newest first. */
export const listJobs = async (
  { db }: Ctx,
  filter: RunFilter,
  { size, offset }: Slice,
): Promise<Listed<ListedJob>> =>
  toListedPage(await batch(db, pageOfJobs(db, { filter, size, offset })));

const pageOfJobs = prepareAll((db, p: Params<{ filter: RunFilter } & Slice>) => {
  const { states, runId, of } = p.filter;
  const isListed = and(
    conditionOf(p.filter),
    "isService" in of ? gt(workflowJobs.id, 0) : undefined,
    states && inArray(workflowJobs.state, states),
  );
  return {
    rows: selectJobs(db, isListed)
      .orderBy(runId === undefined ? desc(workflowJobs.id) : workflowJobs.position)
      .limit(p.size)
      .offset(p.offset),
    counted: db
      .select({ total: count().as("total") })
      .from(workflowJobs)
      .innerJoin(workflowRuns, eq(workflowRuns.id, workflowJobs.runId))
      .where(isListed),
  };
});

const { id, runnerId, runnerName, steps } = columnsOf(workflowTasks, "t");
const taskColumns = { id, runnerId, runnerName, steps };

const selectJobs = (db: Database, isListed: SQL | undefined) =>
  db
    .select({
      job: jobColumns,
      run: runColumns,
      task: taskColumns,
    })
    .from(workflowJobs)
    .innerJoin(workflowRuns, eq(workflowRuns.id, workflowJobs.runId))
    .leftJoin(workflowTasks, eq(workflowTasks.id, workflowJobs.taskId))
    .where(isListed);

/** A job of a repository by its id; undefined if there is none. */
export async function findJob(
  { db }: Ctx,
  { id: repoId }: { readonly id: number },
  jobId: number,
): Promise<ListedJob | undefined> {
  const [found] = await jobById(db, { repoId, jobId });
  return found;
}

interface JobById {
  readonly repoId: number;
  readonly jobId: number;
}

const jobById = prepare((db, { repoId, jobId }: Params<JobById>) =>
  selectJobs(db, and(eq(workflowRuns.repoId, repoId), eq(workflowJobs.id, jobId))),
);

/** A task with its job and run. */
export interface ListedTask extends ListedJob {
  readonly task: WorkflowTask;
}

/** Lists the tasks of a repository, newest first. */
export const listJobTasks = async (
  { db }: Ctx,
  { id: repoId }: { readonly id: number },
  { size, offset }: Slice,
): Promise<Listed<ListedTask>> =>
  toListedPage(await batch(db, pageOfTasks(db, { repoId, size, offset })));

const pageOfTasks = prepareAll((db, p: Params<{ repoId: number } & Slice>) => {
  const isListed = eq(workflowTasks.repoId, p.repoId);
  return {
    rows: db
      .select({ task: columnsOf(workflowTasks, "t"), job: jobColumns, run: runColumns })
      .from(workflowTasks)
      .innerJoin(workflowJobs, eq(workflowJobs.id, workflowTasks.jobId))
      .innerJoin(workflowRuns, eq(workflowRuns.id, workflowTasks.runId))
      .where(isListed)
      .orderBy(desc(workflowTasks.id))
      .limit(p.size)
      .offset(p.offset),
    counted: db
      .select({ total: count().as("total") })
      .from(workflowTasks)
      .where(isListed),
  };
});

/** A task with the names of its job and of the file. */
interface NamedTask {
  readonly task: WorkflowTask;
  readonly name: string;
  readonly file: string;
}

/** The last task of a job of a repository, with the job's name; undefined before there is one. */
export async function findLastTask(
  { db }: Ctx,
  { id: repoId }: { readonly id: number },
  jobId: number,
): Promise<NamedTask | undefined> {
  const [found] = await lastTask(db, { repoId, jobId });
  return found;
}

const lastTask = prepare((db, { repoId, jobId }: Params<JobById>) =>
  db
    .select({
      task: columnsOf(workflowTasks, "t"),
      name: workflowJobs.name,
      file: workflowRuns.file,
    })
    .from(workflowJobs)
    .innerJoin(workflowRuns, eq(workflowRuns.id, workflowJobs.runId))
    .innerJoin(workflowTasks, eq(workflowTasks.id, workflowJobs.taskId))
    .where(and(eq(workflowJobs.id, jobId), eq(workflowRuns.repoId, repoId))),
);
