import { and, asc, eq, getTableColumns, inArray, ne, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import { type Actor, ANONYMOUS } from "../../../auth/actor.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { columnsOf, type Database, flagColumn, qualified } from "../../../db/db.ts";
import { type Params, prepareAll, type Slot } from "../../../db/prepared.ts";
import {
  repositories,
  type Repository,
  type User,
  users,
  workflowJobs,
  type WorkflowJob,
  workflowRuns,
  type WorkflowRun,
  workflowTasks,
  type WorkState,
} from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { htmlUrlOf } from "../../../shapes/urls.ts";
import { statusStatements } from "../../code/statuses/create-status.ts";
import { isReported, statusOf } from "./job-status.ts";
import { nextStates } from "./next-states.ts";
import { isFinal } from "../../../shapes/actions/work-status.ts";

const OPEN = ["blocked", "waiting", "running"] as const satisfies readonly WorkState[];

/** Runs that follow each other in one call: the schedule settles the others. */
const RUNS_MAX = 20;

const otherRuns = alias(workflowRuns, "other_runs");
const actors = alias(users, "actors");
const otherJobs = alias(workflowJobs, "other_jobs");

/**
 * Brings a run in step with its jobs: jobs that nothing holds any more wait for a runner, others
 * are skipped or cancelled; the run gets the state that follows; each change is recorded once, with
 * its commit status. Then the runs that waited for the same group go on.
 *
 * Everything is decided by what the database holds. It may be repeated, run twice at once and end
 * anywhere: the schedule settles what is left.
 *
 * Cost: two round trips where only a change is to be recorded, three where a job moves on.
 */
export async function settleRun(ctx: Ctx, runId: number): Promise<void> {
  const pending = [runId];
  for (let count = 0; count < RUNS_MAX; count++) {
    const id = pending.shift();
    if (id === undefined) return;
    for (const next of await settleOne(ctx, id)) if (!pending.includes(next)) pending.push(next);
  }
}

type RunId = number | Slot<number>;

/** A run with what belongs to it. */
interface OpenRun {
  readonly run: WorkflowRun;
  readonly repo: Pick<Repository, "id" | "ownerId" | "name">;
  readonly owner: Pick<User, "name">;
  /** Who caused it; null for the schedule. */
  readonly actor: User | null;
  /** Jobs whose changes are not recorded yet, one more than are recorded at once. */
  readonly changed: readonly SettledJob[];
}

/** A job without its payload, which may be large. */
type SettledJob = Omit<WorkflowJob, "payload" | "outputs">;

/** Settles one run, and returns the runs that may go on since. */
async function settleOne(ctx: Ctx, runId: number): Promise<readonly number[]> {
  const found = await openRun(ctx, runId);
  if (!found) return [];
  const { run, jobs } = found;
  const states = nextStates(jobs, run.needsApproval || found.isHeld);
  const unevaluated = jobs.filter(
    ({ id, isGroupEvaluated }) => !isGroupEvaluated && states.get(id) === "waiting",
  );
  if (unevaluated.length > 0) {
    const { evaluateGroups } = await import("./evaluate-groups.ts");
    await evaluateGroups(ctx, run, unevaluated);
    return settleOne(ctx, runId);
  }
  const isStale = found.stateOfJobs !== null && found.stateOfJobs !== run.state;
  const isMoving = states.size > 0 || isStale;
  const moved = isMoving ? await moveJobs(ctx, found, states) : { others: [] };
  return [...moved.others, ...(await report(ctx, { ...found, ...moved }))];
}

/** A run as it was read, before anything moves. */
interface FoundRun extends OpenRun {
  readonly isHeld: boolean;
  /** The state that follows from its jobs; null without any. */
  readonly stateOfJobs: WorkState | null;
  /** All of them, or none where no job may move: most changes of a large run move none. */
  readonly jobs: readonly SettledJob[];
}

async function openRun({ db }: Ctx, runId: number): Promise<FoundRun | undefined> {
  const { rows, jobs, changed } = await batch(db, openedRun(db, { runId }));
  const [row] = rows;
  return row && { ...row, jobs, changed };
}

const openedRun = prepareAll((db, { runId }: Params<{ runId: number }>) => ({
  rows: db
    .select({
      run: columnsOf(workflowRuns, "r"),
      repo: {
        id: sql<number>`${repositories.id}`.as("repo_id"),
        ownerId: sql<number>`${repositories.ownerId}`.as("repo_owner_id"),
        name: sql<string>`${repositories.name}`.as("repo_name"),
      },
      owner: { name: sql<string>`${users.name}`.as("owner_name") },
      actor: columnsOf(actors, "a"),
      isHeld: flagColumn(isHeld, "is_held"),
      stateOfJobs: qualified<WorkState | null>(
        sql`case when exists (
          select 1 from ${workflowJobs} where ${workflowJobs.runId} = ${workflowRuns.id}
        ) then ${aggregated(runId)} end`,
      ).as("state_of_jobs"),
    })
    .from(workflowRuns)
    .innerJoin(repositories, eq(repositories.id, workflowRuns.repoId))
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .leftJoin(actors, eq(actors.id, workflowRuns.actorId))
    .where(eq(workflowRuns.id, runId)),
  jobs: selectJobs(db, runId, mayMove(runId)),
  changed: selectChanged(db, runId),
}));

/**
 * The condition that a job of a run may move on: one whose needs have ended, or one beside which
 * another one of its matrix has failed.
 */
function mayMove(runId: RunId): SQL {
  const open = sql`(
    select j.job_id from ${workflowJobs} j
    where j.run_id = ${runId} and j.state in ('blocked', 'waiting', 'running')
  )`;
  return sql`exists (
    select 1 from ${workflowJobs} one
    where one.run_id = ${runId} and (
      (one.state = 'blocked' and not exists (
        select 1 from json_each(one.needs) need where need.value in ${open}
      ))
      or (one.state = 'failure' and one.fails_fast and not one.continues_on_error
        and one.job_id in ${open})
    )
  )`;
}

/**
 * The condition that a run of the group goes first, in a query over `workflow_runs`: one that has
 * begun, or an older one that may begin.
 */
const isHeld: SQL = sql`exists (
  select 1 from ${workflowRuns} ${otherRuns}
  where ${workflowRuns.concurrencyGroup} <> ''
    and ${otherRuns.repoId} = ${workflowRuns.repoId}
    and ${otherRuns.concurrencyGroup} = ${workflowRuns.concurrencyGroup}
    and ${otherRuns.concurrencyGroup} <> ''
    and ${otherRuns.state} in ('blocked', 'waiting', 'running')
    and not ${otherRuns.needsApproval}
    and (${otherRuns.id} < ${workflowRuns.id} or ${otherRuns.state} <> 'blocked')
    and ${otherRuns.id} <> ${workflowRuns.id}
)`;

const { payload: _payload, outputs: _outputs, ...jobColumns } = getTableColumns(workflowJobs);

const selectJobs = (db: Database, runId: RunId, condition: SQL) =>
  db
    .select(jobColumns)
    .from(workflowJobs)
    .where(and(eq(workflowJobs.runId, runId), condition))
    .orderBy(asc(workflowJobs.position));

const selectChanged = (db: Database, runId: RunId) =>
  selectJobs(db, runId, sql`${workflowJobs.state} <> ${workflowJobs.reportedState}`).limit(
    REPORTED_MAX + 1,
  );

/** The state of a run by its jobs. One that has begun is not blocked again: it keeps its group. */
const aggregated = (runId: RunId): SQL<WorkState> => sql`(
  select case
    when sum(${workflowJobs.state} in ('blocked', 'waiting', 'running')) > 0 then case
      when sum(${workflowJobs.state} = 'running') > 0 then 'running'
      when sum(${workflowJobs.state} <> 'blocked') = 0 then 'blocked'
      else 'waiting'
    end
    when sum(${workflowJobs.state} = 'failure' and not ${workflowJobs.continuesOnError}) > 0
      then 'failure'
    when sum(${workflowJobs.state} = 'cancelled') > 0 then 'cancelled'
    when sum(${workflowJobs.state} <> 'skipped') = 0 then 'skipped'
    else 'success'
  end
  from ${workflowJobs} where ${workflowJobs.runId} = ${runId}
)`;

/** Writes the next states of jobs, and the state of their run. */
async function moveJobs(ctx: Ctx, { run, jobs }: FoundRun, states: ReadonlyMap<number, WorkState>) {
  const { db, now } = ctx;
  const idsOf = (state: WorkState): number[] =>
    [...states].filter(([, next]) => next === state).map(([id]) => id);
  const waiting = jobs.filter(({ id }) => states.get(id) === "waiting");
  const grouped = waiting.filter((job) => job.concurrencyGroup !== "");
  const free = waiting.filter((job) => job.concurrencyGroup === "");
  const toWait = (isOne: SQL | undefined) =>
    db
      .update(workflowJobs)
      .set({ state: "waiting", readySequence: nextSequence(now), updatedAt: now })
      .where(and(isOne, eq(workflowJobs.state, "blocked"), mayBegin(run.id)));
  const { stolen, runs, changed } = await batch(db, {
    cancelled: cancelStatements(ctx, isOneOf(idsOf("cancelled"))),
    skipped: db
      .update(workflowJobs)
      .set({ state: "skipped", stoppedAt: now, updatedAt: now })
      .where(and(isOneOf(idsOf("skipped")), eq(workflowJobs.state, "blocked"))),
    stolen: grouped.flatMap((job) =>
      job.cancelsInProgress ? cancelStatements(ctx, holdsGroupOf(job)) : [],
    ),
    free: toWait(isOneOf(free.map(({ id }) => id))),
    grouped: grouped.map(({ id }) => toWait(and(eq(workflowJobs.id, id), isGroupFree))),
    runs: db
      .update(workflowRuns)
      .set({
        state: aggregated(run.id),
        startedAt: sql`coalesce(${workflowRuns.startedAt}, (
          select min(${workflowJobs.startedAt}) from ${workflowJobs}
          where ${workflowJobs.runId} = ${run.id}
        ))`,
        stoppedAt: sql`iif(
          ${aggregated(run.id)} in ('blocked', 'waiting', 'running'), null, ${now}
        )`,
        updatedAt: now,
      })
      .where(eq(workflowRuns.id, run.id))
      .returning(),
    changed: selectChanged(db, run.id),
  });
  const others = stolen.flat().flatMap((each) => ("runId" in each ? [each.runId] : []));
  return { run: runs[0] ?? run, changed, others: others.filter((id) => id !== run.id) };
}

/** The condition that a job is one of many: a run may have more than a query has parameters. */
const isOneOf = (ids: readonly number[]): SQL =>
  sql`${workflowJobs.id} in (select value from json_each(${JSON.stringify(ids)}))`;

/** Increases with each job of the service that begins to wait; the time where that is more. */
export const nextSequence = (now: number): SQL<number> => sql`(
  select max(${now}, coalesce(max(newest.ready_sequence), 0) + 1)
  from ${workflowJobs} newest
) + ${workflowJobs.position}`;

/** The condition that no other run of the group has begun: another call may have let it begin. */
const mayBegin = (runId: number): SQL => sql`not exists (
  select 1 from ${workflowRuns}
  where ${workflowRuns.id} = ${runId} and ${workflowRuns.state} = 'blocked' and ${isHeld}
)`;

/** The condition that no other job of the group has begun. */
const isGroupFree: SQL = sql`not exists (
  select 1 from ${workflowJobs} ${otherJobs}
  where ${otherJobs.repoId} = ${workflowJobs.repoId}
    and ${otherJobs.concurrencyGroup} = ${workflowJobs.concurrencyGroup}
    and ${otherJobs.state} in ('waiting', 'running')
    and ${otherJobs.concurrencyGroup} <> ''
    and ${otherJobs.id} <> ${workflowJobs.id}
)`;

const holdsGroupOf = (job: SettledJob): SQL | undefined =>
  and(
    eq(workflowJobs.repoId, job.repoId),
    eq(workflowJobs.concurrencyGroup, job.concurrencyGroup),
    inArray(workflowJobs.state, ["waiting", "running"]),
    ne(workflowJobs.id, job.id),
  );

/** The statements that cancel open jobs with their tasks. */
export const cancelStatements = ({ db, now }: Ctx, isOne: SQL | undefined) => {
  const isOpen = and(isOne, inArray(workflowJobs.state, [...OPEN]));
  return [
    db
      .update(workflowTasks)
      .set({ state: "cancelled", stoppedAt: now, updatedAt: now })
      .where(
        and(
          eq(workflowTasks.state, "running"),
          inArray(
            workflowTasks.jobId,
            db.select({ id: workflowJobs.id }).from(workflowJobs).where(isOpen),
          ),
        ),
      ),
    db
      .update(workflowJobs)
      .set({ state: "cancelled", stoppedAt: now, updatedAt: now })
      .where(isOpen)
      .returning({ runId: workflowJobs.runId }),
  ] as const;
};

/**
 * Records the changes of a run and its jobs that are not recorded yet.
 *
 * @returns The runs that waited for a group of what has ended.
 */
async function report(caller: Ctx, open: OpenRun): Promise<readonly number[]> {
  const { run, repo, changed } = open;
  const isRunChanged = run.state !== run.reportedState;
  if (changed.length === 0 && !isRunChanged) return [];
  const ctx: Ctx = { ...caller, actor: actorOf(open) };
  const { db } = ctx;
  const ended = changed.filter(({ state, concurrencyGroup }) => isFinal(state) && concurrencyGroup);
  const groups = ended.map(({ concurrencyGroup }) => concurrencyGroup);
  const ofRepo = { repoId: repo.id, ownerId: repo.ownerId, runId: run.id };
  const reportJob = (job: SettledJob) => [
    db
      .update(workflowJobs)
      .set({ reportedState: job.state })
      .where(isUnreported(workflowJobs, job)),
    recordIfChanged(ctx, {
      type: "workflow_job.changed",
      ...ofRepo,
      jobId: job.id,
      name: job.name,
      state: job.state,
      attempt: job.attempt,
    }),
    ...(isReported(run.event) ? Object.values(jobStatus(ctx, open, job)) : []),
  ];
  const { nextRuns, nextJobs } = await batch(db, {
    jobs: changed.slice(0, REPORTED_MAX).flatMap(reportJob),
    run: isRunChanged
      ? [
          db
            .update(workflowRuns)
            .set({ reportedState: run.state })
            .where(isUnreported(workflowRuns, run)),
          recordIfChanged(ctx, {
            type: "workflow_run.changed",
            ...ofRepo,
            number: run.number,
            state: run.state,
            attempt: run.attempt,
          }),
        ]
      : [],
    nextRuns:
      isFinal(run.state) && run.concurrencyGroup !== ""
        ? db
            .select({ id: sql<number | null>`min(${workflowRuns.id})`.as("id") })
            .from(workflowRuns)
            .where(
              and(
                eq(workflowRuns.repoId, repo.id),
                eq(workflowRuns.concurrencyGroup, run.concurrencyGroup),
                eq(workflowRuns.state, "blocked"),
                eq(workflowRuns.needsApproval, false),
              ),
            )
        : undefined,
    nextJobs:
      groups.length > 0
        ? db
            .select({ id: sql<number | null>`min(${workflowJobs.runId})`.as("id") })
            .from(workflowJobs)
            .where(
              and(
                eq(workflowJobs.repoId, repo.id),
                sql`${workflowJobs.concurrencyGroup} in (
                  select value from json_each(${JSON.stringify(groups)})
                )`,
                eq(workflowJobs.state, "blocked"),
              ),
            )
            .groupBy(workflowJobs.concurrencyGroup)
        : undefined,
  });
  ctx.defer(ctx.eventQueues.dispatchRecorded());
  const isMore = changed.length > REPORTED_MAX ? [run.id] : [];
  return [
    ...isMore,
    ...[...(nextRuns ?? []), ...(nextJobs ?? [])].flatMap(({ id }) => (id === null ? [] : [id])),
  ];
}

/** Jobs whose changes are recorded in one batch: each takes four statements. */
const REPORTED_MAX = 50;

const isUnreported = (
  table: typeof workflowJobs | typeof workflowRuns,
  row: Pick<WorkflowRun, "id" | "state" | "reportedState">,
) =>
  and(eq(table.id, row.id), eq(table.state, row.state), eq(table.reportedState, row.reportedState));

/** What runs cause is caused by who caused them; nobody for the schedule. */
const actorOf = ({ actor: user }: OpenRun): Actor =>
  user ? { ...ANONYMOUS, user, credential: "system" } : ANONYMOUS;

const jobStatus = (ctx: Ctx, { run, repo, owner }: OpenRun, job: SettledJob) =>
  statusStatements(
    ctx,
    repo,
    {
      ...statusOf(job),
      context: `${run.name} / ${job.name} (${run.event})`,
      targetUrl: `${htmlUrlOf({ row: repo, owner }, { rootUrl: ctx.publicUrl })}/actions/runs/${run.number}/jobs/${job.position}`,
      commitOid: run.headOid,
      creatorId: null,
    },
    true,
  );
