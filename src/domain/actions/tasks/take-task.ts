import { and, asc, eq, inArray, ne, sql } from "drizzle-orm";

import { isUnitOnSql } from "../../../auth/access/unit-switches.ts";
import { hashSecret, makeSecret } from "../../../auth/secret.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import {
  repositories,
  users,
  type WorkflowJob,
  workflowJobs,
  type WorkflowRun,
  workflowRuns,
  type WorkflowTask,
  workflowTasks,
  type WorkResult,
  type WorkState,
} from "../../../db/schema/index.ts";
import { pollRunner, type PollingRunner } from "../runners/poll-runner.ts";
import type { RunnerCredential } from "../runners/runner-credential.ts";
import { isFinal } from "../../../shapes/actions/work-status.ts";
import { settleRun } from "../runs/settle-run.ts";
import { readJobVariables } from "../variables/read-job-variables.ts";
import { jobTokenStatements } from "./job-token.ts";
import { makeRuntimeToken } from "./runtime-token.ts";
import { readStepNames } from "./step-names.ts";
import { taskContext } from "./task-context.ts";
import { readTaskSecrets } from "./task-secrets.ts";

/** A task as its runner gets it. */
export interface HandedTask {
  readonly id: number;
  /** A workflow file of one job. */
  readonly payload: string;
  readonly context: Readonly<Record<string, unknown>>;
  readonly secrets: Readonly<Record<string, string>>;
  readonly variables: Readonly<Record<string, string>>;
  /** By the keys of the jobs that this one needs. */
  readonly needs: ReadonlyMap<string, TaskNeed>;
}

interface TaskNeed {
  readonly outputs: Readonly<Record<string, string>>;
  readonly result: WorkResult;
}

/** An answer to a runner that asks for work. */
export interface Fetched {
  readonly task?: HandedTask;
  /** The version that the runner sends with its next request. */
  readonly tasksVersion: number;
}

/**
 * Hands the oldest job that waits for such a runner to the runner that asks. Of two runners that
 * ask at once, one gets it, and the other the next one.
 *
 * Cost: one round trip and no write where there is nothing new. A job takes two more.
 *
 * @param knownVersion The version of the last answer: jobs are looked up only if there were others
 *   since. 0 looks them up.
 * @throws Failure `unauthenticated` for an unknown runner, and for one whose one job has ended.
 */
export async function takeTask(
  ctx: Ctx,
  credential: RunnerCredential,
  knownVersion: number,
): Promise<Fetched> {
  const runner = await pollRunner(ctx, credential);
  const { tasksVersion } = runner;
  const mayWork = !runner.isDisabled && !(runner.isEphemeral && runner.isBusy);
  if (!mayWork || knownVersion === tasksVersion) return { tasksVersion };
  const token = makeSecret();
  const taken = await takeJob(ctx, runner, await hashSecret(token));
  return taken ? { task: await handOver(ctx, taken, token), tasksVersion } : { tasksVersion };
}

/** A job that a runner has taken, with what its context needs. */
interface TakenJob {
  readonly task: WorkflowTask;
  readonly job: WorkflowJob;
  readonly run: WorkflowRun;
  readonly repo: { readonly name: string; readonly ownerId: number; readonly ownerName: string };
  readonly actorName: string;
  readonly needed: readonly NeededJob[];
}

type NeededJob = Pick<WorkflowJob, "jobId" | "state" | "outputs" | "continuesOnError">;

async function takeJob(
  { db, now }: Ctx,
  { id, name, labels, repoId, ownerId, isEphemeral }: PollingRunner,
  tokenHash: string,
): Promise<TakenJob | undefined> {
  const level = repoId !== null ? { repoId } : ownerId !== null ? { ownerId } : {};
  const lowerLabels = labels.map((label) => label.toLowerCase());
  const { task, job, run, repo, actor, needed } = await batch(
    db,
    takenJob(db, { id, name, labels: lowerLabels, level, isEphemeral, tokenHash, now }),
  );
  const [[takenTask], [taken], [takenRun], [takenRepo]] = [task, job, run, repo];
  if (!takenTask || !taken || !takenRun || !takenRepo) return undefined;
  const actorName = actor[0]?.name ?? "";
  return { task: takenTask, job: taken, run: takenRun, repo: takenRepo, actorName, needed };
}

interface TakingRunner {
  readonly id: number;
  readonly name: string;
  /** In lower case. */
  readonly labels: readonly string[];
  readonly level: { readonly repoId?: number; readonly ownerId?: number };
  readonly isEphemeral: boolean;
  readonly tokenHash: string;
  readonly now: number;
}

/**
 * The statements by which a runner takes a job. The first decides, and the others follow from the
 * task that it inserts: D1 runs no other statement between those of a batch.
 */
const takenJob = prepareAll((db, p: Params<TakingRunner>) => {
  const { repoId, ownerId } = p.level;
  const isOfLevel =
    repoId !== undefined
      ? eq(workflowJobs.repoId, repoId)
      : ownerId !== undefined
        ? eq(workflowJobs.ownerId, ownerId)
        : undefined;
  const hasLabels = sql`not exists (
    select 1 from json_each(${workflowJobs.labels}) label where label.value not in ${p.labels}
  )`;
  // An ephemeral runner that asks twice at once gets one job.
  const isFree = p.isEphemeral
    ? sql`not exists (select 1 from ${workflowTasks} t where t.runner_id = ${p.id})`
    : undefined;
  const isFirst = and(
    sql`${workflowJobs.state} = 'waiting'`,
    isOfLevel,
    isUnitOnSql("actions"),
    sql`${repositories.archivedAt} is null`,
    hasLabels,
    isFree,
  );
  const ofTask = eq(workflowTasks.tokenHash, p.tokenHash);
  const of = (column: "jobId" | "runId" | "repoId") =>
    db.select({ id: workflowTasks[column] }).from(workflowTasks).where(ofTask);
  const row = {
    jobId: workflowJobs.id,
    runId: workflowJobs.runId,
    repoId: workflowJobs.repoId,
    attempt: sql`${workflowJobs.attempt} + 1`,
    runnerId: sql`${p.id}`,
    runnerName: sql`${p.name}`,
    state: "running" as const,
    tokenHash: sql`${p.tokenHash}`,
    steps: [],
    startedAt: sql`${p.now}`,
    updatedAt: sql`${p.now}`,
  };
  return {
    task: insertSelect(
      db,
      workflowTasks,
      row,
      sql`from ${workflowJobs}
        join ${repositories} on ${repositories.id} = ${workflowJobs.repoId}
        where ${isFirst}
        order by ${workflowJobs.readySequence}, ${workflowJobs.id}
        limit 1`,
    ).returning(),
    job: db
      .update(workflowJobs)
      .set({
        state: "running",
        attempt: sql`${workflowJobs.attempt} + 1`,
        taskId: sql`(select ${workflowTasks.id} from ${workflowTasks} where ${ofTask})`,
        startedAt: sql`${p.now}`,
        stoppedAt: null,
        updatedAt: sql`${p.now}`,
      })
      .where(inArray(workflowJobs.id, of("jobId")))
      .returning(),
    started: db
      .update(workflowRuns)
      .set({
        state: "running",
        startedAt: sql`coalesce(${workflowRuns.startedAt}, ${p.now})`,
        updatedAt: sql`${p.now}`,
      })
      .where(and(inArray(workflowRuns.id, of("runId")), ne(workflowRuns.state, "running"))),
    run: db
      .select()
      .from(workflowRuns)
      .where(inArray(workflowRuns.id, of("runId"))),
    repo: db
      .select({
        name: repositories.name,
        ownerId: repositories.ownerId,
        ownerName: sql<string>`${users.name}`.as("owner_name"),
      })
      .from(repositories)
      .innerJoin(users, eq(users.id, repositories.ownerId))
      .where(inArray(repositories.id, of("repoId"))),
    actor: db
      .select({ name: users.name })
      .from(users)
      .where(
        inArray(
          users.id,
          db
            .select({ id: workflowRuns.actorId })
            .from(workflowRuns)
            .where(inArray(workflowRuns.id, of("runId"))),
        ),
      ),
    needed: db
      .select({
        jobId: workflowJobs.jobId,
        state: workflowJobs.state,
        outputs: workflowJobs.outputs,
        continuesOnError: workflowJobs.continuesOnError,
      })
      .from(workflowJobs)
      .where(
        and(
          inArray(workflowJobs.runId, of("runId")),
          sql`${workflowJobs.jobId} in (
            select needed.value
            from ${workflowJobs} taken, json_each(taken.needs) needed
            where taken.id in ${of("jobId")}
          )`,
        ),
      )
      .orderBy(asc(workflowJobs.position)),
  };
});

/** Makes the task of a job that is taken, with its token. */
async function handOver(ctx: Ctx, taken: TakenJob, token: string): Promise<HandedTask> {
  const { task, job, run, repo, actorName, needed } = taken;
  const place = { repoId: run.repoId, ownerId: repo.ownerId };
  const names = await readStepNames(job.payload);
  const steps = names.map((name) => ({
    name,
    state: "waiting" as WorkState,
    logIndex: 0,
    logLength: 0,
  }));
  const [secrets, variables, runtimeToken] = await Promise.all([
    readTaskSecrets(ctx, task, { ...place, isFromFork: run.isFromFork }),
    readJobVariables(ctx, place),
    makeRuntimeToken(ctx, task),
    batch(ctx.db, {
      steps: ctx.db.update(workflowTasks).set({ steps }).where(eq(workflowTasks.id, task.id)),
      ...jobTokenStatements(ctx.db, task, {
        lastEight: token.slice(-8),
        permissions: job.permissions,
        isFromFork: run.isFromFork,
      }),
    }),
  ]);
  ctx.defer(settleRun(ctx, run.id));
  const facts = { task, job, run, repoName: repo.name, ownerName: repo.ownerName, actorName };
  return {
    id: task.id,
    payload: job.payload,
    context: taskContext(ctx, { ...facts, token, runtimeToken }),
    secrets: { ...secrets, GITHUB_TOKEN: token, GITEA_TOKEN: token },
    variables,
    needs: toNeeds(needed),
  };
}

/** What a job knows of the jobs that it needs: those of a matrix are one. */
function toNeeds(jobs: readonly NeededJob[]): ReadonlyMap<string, TaskNeed> {
  const needs = new Map<string, TaskNeed>();
  for (const [key, matrix] of Map.groupBy(jobs, ({ jobId }) => jobId)) {
    const outputs: Record<string, string> = {};
    for (const job of matrix) {
      for (const [name, value] of Object.entries(job.outputs)) {
        if (value !== "" || outputs[name] === undefined) outputs[name] = value;
      }
    }
    const states = matrix.map(({ state, continuesOnError }) =>
      state === "failure" && continuesOnError ? "success" : state,
    );
    needs.set(key, { outputs, result: resultOf(states) });
  }
  return needs;
}

/** The result of all jobs of a matrix. */
function resultOf(states: readonly WorkState[]): WorkResult {
  if (!states.every(isFinal)) return "cancelled";
  if (states.every((state) => state === "skipped")) return "skipped";
  if (states.includes("failure")) return "failure";
  return states.includes("cancelled") ? "cancelled" : "success";
}
