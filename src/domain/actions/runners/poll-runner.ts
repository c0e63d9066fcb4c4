import { and, eq, lt, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { qualified } from "../../../db/db.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { type Runner, runners, workflowJobs } from "../../../db/schema/index.ts";
import { isRunnerOf, type RunnerCredential, unregistered } from "./runner-credential.ts";
import { NOTED_MS, type RunnerWithWork } from "./runner-state.ts";
import { runnerColumns } from "./select-runners.ts";

/** A runner that asks for work. */
export interface PollingRunner extends RunnerWithWork {
  /** The version of the jobs of its level: it differs once another job waits for a runner. */
  readonly tasksVersion: number;
}

/** The version before the first job: runners take 0 for that of a server that has none. */
const NO_JOBS = 1;

/**
 * Finds the runner of a request for work, in one round trip. That it was here is noted at most
 * twice a minute, after the answer.
 *
 * @throws Failure `unauthenticated` for an unknown runner, and for one whose one job has ended.
 */
export async function pollRunner(ctx: Ctx, credential: RunnerCredential): Promise<PollingRunner> {
  const { db } = ctx;
  const [runner] = await runnerWithVersion(db, credential);
  if (!runner || runner.endedAt !== null) throw unregistered();
  noteOnline(ctx, runner);
  // The version of a runner that gets no jobs is that of none, so that it asks anew once it may.
  const tasksVersion = runner.isDisabled ? NO_JOBS : Math.max(runner.tasksVersion, NO_JOBS);
  return { ...runner, tasksVersion };
}

/** Notes that a runner was here, unless that was noted lately. */
export function noteOnline(ctx: Ctx, { id, lastOnlineAt }: Runner): void {
  const { db, now } = ctx;
  if (now - lastOnlineAt < NOTED_MS) return;
  ctx.defer(
    db
      .update(runners)
      .set({ lastOnlineAt: now })
      .where(and(eq(runners.id, id), lt(runners.lastOnlineAt, now)))
      .execute(),
  );
}

const greatest = sql`select max(${workflowJobs.readySequence}) from ${workflowJobs}`;

const runnerWithVersion = prepare((db, credential: Params<RunnerCredential>) =>
  db
    .select({
      ...runnerColumns(db),
      tasksVersion: qualified<number>(sql`coalesce(
        case
          when ${runners.repoId} is not null
            then (${greatest} where ${workflowJobs.repoId} = ${runners.repoId})
          when ${runners.ownerId} is not null
            then (${greatest} where ${workflowJobs.ownerId} = ${runners.ownerId})
          else (${greatest})
        end,
        0
      )`).as("tasks_version"),
    })
    .from(runners)
    .where(isRunnerOf(credential)),
);
