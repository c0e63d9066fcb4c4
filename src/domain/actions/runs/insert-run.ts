import { and, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import {
  repositories,
  workflowJobs,
  type WorkflowRun,
  workflowRuns,
} from "../../../db/schema/index.ts";
import type { PlannedJob } from "../workflow/plan-jobs.ts";

/** Characters of jobs in one statement: D1 binds at most 2 MB. */
const STATEMENT_CHARS = 500_000;

/** A run as it begins; what the database decides is left out. */
export type NewRun = Omit<
  typeof workflowRuns.$inferInsert,
  "id" | "number" | "state" | "createdAt" | "updatedAt"
>;

/**
 * Stores a run with its jobs, which wait until it is settled. Repeated for the same cause and file
 * it stores nothing.
 *
 * A run with faults has failed.
 *
 * @returns The run; undefined if the repository is gone.
 */
export async function insertRun(
  { db, now }: Ctx,
  run: NewRun,
  jobs: readonly PlannedJob[],
): Promise<WorkflowRun | undefined> {
  const hasFailed = (run.faults ?? []).length > 0;
  const number = sql<number>`coalesce((
    select max(other.number) from ${workflowRuns} other where other.repo_id = ${run.repoId}
  ), 0) + 1`;
  const isThis = and(
    eq(workflowRuns.repoId, run.repoId),
    eq(workflowRuns.cause, run.cause),
    eq(workflowRuns.file, run.file),
  );
  const { found } = await batch(db, {
    run: insertSelect(
      db,
      workflowRuns,
      {
        ...run,
        number,
        state: hasFailed ? "failure" : "blocked",
        ...(hasFailed && { startedAt: now, stoppedAt: now }),
        createdAt: now,
        updatedAt: now,
      },
      sql`from ${repositories} where ${repositories.id} = ${run.repoId}`,
    ).onConflictDoNothing(),
    jobs: inParts(jobs).map((part) =>
      insertSelect(
        db,
        workflowJobs,
        {
          runId: workflowRuns.id,
          repoId: workflowRuns.repoId,
          ownerId: sql`(
            select ${repositories.ownerId} from ${repositories}
            where ${repositories.id} = ${workflowRuns.repoId}
          )`,
          ...Object.fromEntries(COLUMNS.map((name) => [name, sql`job.value ->> ${`$.${name}`}`])),
          state: sql`'blocked'`,
          createdAt: now,
          updatedAt: now,
        } as never,
        sql`from ${workflowRuns}, json_each(${JSON.stringify(part)}) job where ${isThis}`,
      ).onConflictDoNothing(),
    ),
    found: db.select().from(workflowRuns).where(isThis),
  });
  return found[0];
}

const COLUMNS = [
  "position",
  "jobId",
  "name",
  "needs",
  "hasCondition",
  "labels",
  "payload",
  "continuesOnError",
  "timeoutMinutes",
  "permissions",
  "maxParallel",
  "failsFast",
  "concurrencyGroup",
  "isGroupEvaluated",
  "cancelsInProgress",
] as const;

type JobColumns = { readonly [K in (typeof COLUMNS)[number]]: unknown };

/** The columns of jobs, in parts that a statement takes. */
function inParts(jobs: readonly PlannedJob[]): JobColumns[][] {
  const parts: JobColumns[][] = [];
  let chars = Infinity;
  for (const [position, { concurrency, needs, labels, permissions, ...job }] of jobs.entries()) {
    chars += job.payload.length;
    if (chars > STATEMENT_CHARS) {
      parts.push([]);
      chars = job.payload.length;
    }
    parts.at(-1)?.push({
      ...job,
      position,
      needs: JSON.stringify(needs),
      labels: JSON.stringify(labels),
      permissions: JSON.stringify(permissions),
      concurrencyGroup: concurrency?.group ?? "",
      isGroupEvaluated: concurrency?.isEvaluated ?? true,
      cancelsInProgress: concurrency?.cancelsInProgress ?? false,
    });
  }
  return parts;
}
