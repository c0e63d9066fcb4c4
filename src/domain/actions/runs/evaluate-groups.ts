import { and, eq } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { columnsOf } from "../../../db/db.ts";
import {
  repositories,
  users,
  type WorkflowJob,
  workflowJobs,
  type WorkflowRun,
  workflowRuns,
} from "../../../db/schema/index.ts";
import { readJobVariables } from "../variables/read-job-variables.ts";
import { evaluate } from "../workflow/expressions.ts";
import { WorkflowError } from "../workflow/workflow-error.ts";
import { GROUP_MAX } from "./plan-run.ts";
import { runContext } from "./run-context.ts";

type Unevaluated = Pick<WorkflowJob, "id" | "needs" | "concurrencyGroup">;

/**
 * Evaluates the groups of jobs that name what other jobs of the run gave, once these have ended. A
 * job whose group can't be evaluated fails.
 */
export async function evaluateGroups(
  ctx: Ctx,
  run: Pick<WorkflowRun, "id" | "repoId">,
  jobs: readonly Unevaluated[],
): Promise<void> {
  const { db, now } = ctx;
  const { runs, ended } = await batch(db, {
    runs: db
      .select({
        run: columnsOf(workflowRuns, "r"),
        repoName: repositories.name,
        ownerId: repositories.ownerId,
        owner: { name: users.name },
      })
      .from(workflowRuns)
      .innerJoin(repositories, eq(repositories.id, workflowRuns.repoId))
      .innerJoin(users, eq(users.id, repositories.ownerId))
      .where(eq(workflowRuns.id, run.id)),
    ended: db
      .select({
        key: workflowJobs.jobId,
        state: workflowJobs.state,
        outputs: workflowJobs.outputs,
      })
      .from(workflowJobs)
      .where(eq(workflowJobs.runId, run.id)),
  });
  const [found] = runs;
  if (!found) return;
  const vars = await readJobVariables(ctx, { repoId: run.repoId, ownerId: found.ownerId });
  const github = runContext(ctx, {
    run: found.run,
    repoName: found.repoName,
    ownerName: found.owner.name,
    actorName: "",
  });
  for (const job of jobs) {
    const needs = Object.fromEntries(
      ended
        .filter(({ key }) => job.needs.includes(key))
        .map(({ key, state, outputs }) => [key, { result: state, outputs }]),
    );
    const group = await evaluateGroup(job.concurrencyGroup, { github, vars, needs });
    const isThis = and(eq(workflowJobs.id, job.id), eq(workflowJobs.isGroupEvaluated, false));
    await db
      .update(workflowJobs)
      .set({
        isGroupEvaluated: true,
        updatedAt: now,
        concurrencyGroup: group ?? "",
        ...(group === undefined && { state: "failure", stoppedAt: now }),
      })
      .where(isThis);
  }
}

/** Undefined for a group that can't be evaluated. */
async function evaluateGroup(
  text: string,
  contexts: Parameters<typeof evaluate>[1],
): Promise<string | undefined> {
  try {
    return (await evaluate(text, contexts)).slice(0, GROUP_MAX).toWellFormed();
  } catch (error) {
    if (error instanceof WorkflowError) return undefined;
    throw error;
  }
}
