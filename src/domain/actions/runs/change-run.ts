import { and, eq, inArray, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type WorkflowRun, workflowJobs, workflowRuns } from "../../../db/schema/index.ts";
import { malformed, notFound } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { requireNotArchived } from "../../issues/issue/require-issue-access.ts";
import { recordAuditIfChanged } from "../../people/audit/record-audit.ts";
import { isFinal } from "../../../shapes/actions/work-status.ts";
import { cancelStatements, settleRun } from "./settle-run.ts";
import { cancelOthers } from "./store-planned.ts";

/**
 * Cancels the open jobs of a run. A run that has ended stays as it is.
 *
 * @throws Failure `locked` in an archived repository, as all changes of runs.
 */
export async function cancelRun(
  ctx: Ctx,
  repo: RepositoryContext,
  run: WorkflowRun,
): Promise<void> {
  requireNotArchived(repo);
  await ctx.db.batch(cancelStatements(ctx, eq(workflowJobs.runId, run.id)));
  await settleRun(ctx, run.id);
}

/**
 * Lets a run begin that waits for an approval: the caller answers for what its head contains. A run
 * that waits for none stays as it is.
 */
export async function approveRun(
  ctx: Ctx,
  repo: RepositoryContext,
  run: WorkflowRun,
): Promise<void> {
  requireNotArchived(repo);
  const { db, now, actor } = ctx;
  const [approved] = await db
    .update(workflowRuns)
    .set({ needsApproval: false, approverId: actor.user?.id ?? null, updatedAt: now })
    .where(and(eq(workflowRuns.id, run.id), eq(workflowRuns.needsApproval, true)))
    .returning();
  if (!approved) return;
  const others = approved.cancelsInProgress ? await cancelOthers(ctx, approved) : [];
  for (const id of [run.id, ...others]) await settleRun(ctx, id);
}

/** The jobs that a re-run repeats: all, those that did not succeed, or one of them. */
export type Rerun = "all" | "failed" | { readonly jobId: number };

/**
 * Runs jobs of a run again that has ended, and those that need them. What earlier attempts logged
 * stays.
 *
 * @throws Failure `malformed` for a run that has not ended, or has no such job; `not_found` for a
 *   job of another run.
 */
export async function rerun(
  ctx: Ctx,
  repo: RepositoryContext,
  run: WorkflowRun,
  which: Rerun,
): Promise<void> {
  requireNotArchived(repo);
  const { db, now } = ctx;
  if (!isFinal(run.state)) throw malformed("this workflow run is not done");
  const jobs = await db
    .select({
      id: workflowJobs.id,
      key: workflowJobs.jobId,
      needs: workflowJobs.needs,
      state: workflowJobs.state,
    })
    .from(workflowJobs)
    .where(eq(workflowJobs.runId, run.id));
  if (jobs.length === 0) throw malformed("this workflow run has no jobs");
  const repeated = new Set(
    jobs
      .filter(({ id, state }) =>
        which === "all"
          ? true
          : which === "failed"
            ? state === "failure" || state === "cancelled"
            : id === which.jobId,
      )
      .map(({ id }) => id),
  );
  if (typeof which === "object" && repeated.size === 0) throw notFound();
  if (repeated.size === 0) throw malformed("no job of this workflow run has failed");
  for (let size = 0; size !== repeated.size;) {
    size = repeated.size;
    const keys = new Set(jobs.filter(({ id }) => repeated.has(id)).map(({ key }) => key));
    for (const { id, needs } of jobs) if (needs.some((key) => keys.has(key))) repeated.add(id);
  }
  const ids = JSON.stringify([...repeated]);
  await batch(db, {
    run: db
      .update(workflowRuns)
      .set({
        state: "blocked",
        attempt: sql`${workflowRuns.attempt} + 1`,
        startedAt: null,
        stoppedAt: null,
        updatedAt: now,
      })
      .where(and(eq(workflowRuns.id, run.id), eq(workflowRuns.state, run.state))),
    jobs: db
      .update(workflowJobs)
      .set({
        state: "blocked",
        readySequence: 0,
        outputs: {},
        startedAt: null,
        stoppedAt: null,
        updatedAt: now,
      })
      .where(
        and(
          eq(workflowJobs.runId, run.id),
          sql`${workflowJobs.id} in (select value from json_each(${ids}))`,
          sql`changes() > 0`,
        ),
      ),
  });
  await settleRun(ctx, run.id);
}

/**
 * Deletes a run that has ended, with its jobs and logs.
 *
 * @throws Failure `malformed` for a run that has not ended.
 */
export async function deleteRun(
  ctx: Ctx,
  repo: RepositoryContext,
  run: WorkflowRun,
): Promise<void> {
  requireNotArchived(repo);
  const { row } = repo;
  const { deleted } = await batch(ctx.db, {
    deleted: ctx.db
      .delete(workflowRuns)
      .where(
        and(
          eq(workflowRuns.id, run.id),
          inArray(workflowRuns.state, ["success", "failure", "cancelled", "skipped"]),
        ),
      )
      .returning({ id: workflowRuns.id }),
    audit: recordAuditIfChanged(ctx, {
      kind: "workflow_run.deleted",
      ownerId: row.ownerId,
      repoId: row.id,
      target: `${run.file} #${run.number}`,
      details: { runId: run.id },
    }),
  });
  if (deleted.length === 0) throw malformed("this workflow run is not done");
}
