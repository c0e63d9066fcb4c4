import { and, count, desc, eq, inArray, type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { columnsOf } from "../../../db/db.ts";
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

/** A run without the event that caused it, and who caused it. */
export interface ListedRun {
  readonly run: Omit<WorkflowRun, "payload">;
  /** Undefined for the schedule, and for an account that is gone. */
  readonly actor: User | undefined;
}

/** Which runs, or jobs of runs, a list has. */
export interface RunFilter {
  /** The repository, all of an account, or all. */
  readonly of: { readonly repoId: number } | { readonly ownerId: number } | "service";
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

function conditionOf(filter: RunFilter): SQL | undefined {
  const { of, runId, file, event, branch, actor, headOid } = filter;
  const isOfPlace =
    of === "service"
      ? undefined
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
export async function listRuns(
  { db }: Ctx,
  filter: RunFilter,
  { size, offset }: Slice,
): Promise<Listed<ListedRun>> {
  const { states } = filter;
  const isListed = and(conditionOf(filter), states && inArray(workflowRuns.state, [...states]));
  const page = await batch(db, {
    rows: db
      .select({ run: runColumns, actor: columnsOf(users, "a") })
      .from(workflowRuns)
      .leftJoin(users, eq(users.id, workflowRuns.actorId))
      .where(isListed)
      .orderBy(desc(workflowRuns.id))
      .limit(size)
      .offset(offset),
    counted: db
      .select({ total: count().as("total") })
      .from(workflowRuns)
      .where(isListed),
  });
  return toListedPage(page, ({ run, actor }) => ({ run, actor: actor ?? undefined }));
}

/** A job with its run, and the runner of its present task. */
export interface ListedJob {
  readonly job: Omit<WorkflowJob, "payload" | "outputs">;
  readonly run: Omit<WorkflowRun, "payload">;
  /** Null before a runner has it. */
  readonly task: Pick<WorkflowTask, "id" | "runnerId" | "runnerName" | "steps"> | null;
}

const { payload: _file, outputs: _outputs, ...jobColumns } = columnsOf(workflowJobs, "j");

/** Lists jobs: those of one run in its order, others newest first. */
export async function listJobs(
  { db }: Ctx,
  filter: RunFilter,
  { size, offset }: Slice,
): Promise<Listed<ListedJob>> {
  const { states, runId } = filter;
  const isListed = and(conditionOf(filter), states && inArray(workflowJobs.state, [...states]));
  const page = await batch(db, {
    rows: selectJobs({ db }, isListed)
      .orderBy(runId === undefined ? desc(workflowJobs.id) : workflowJobs.position)
      .limit(size)
      .offset(offset),
    counted: db
      .select({ total: count().as("total") })
      .from(workflowJobs)
      .innerJoin(workflowRuns, eq(workflowRuns.id, workflowJobs.runId))
      .where(isListed),
  });
  return toListedPage(page, (row) => row);
}

const { id, runnerId, runnerName, steps } = columnsOf(workflowTasks, "t");
const taskColumns = { id, runnerId, runnerName, steps };

const selectJobs = ({ db }: Pick<Ctx, "db">, isListed: SQL | undefined) =>
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

/** A job of a repository by its id, or by its run and position; undefined if there is none. */
export async function findJob(
  ctx: Ctx,
  repo: { readonly id: number },
  by: { readonly id: number } | { readonly runId: number; readonly position: number },
): Promise<ListedJob | undefined> {
  const isOne =
    "id" in by
      ? eq(workflowJobs.id, by.id)
      : and(eq(workflowJobs.runId, by.runId), eq(workflowJobs.position, by.position));
  const [found] = await selectJobs(ctx, and(eq(workflowRuns.repoId, repo.id), isOne));
  return found;
}
