import { and, eq } from "drizzle-orm";

import { batch } from "../../../../db/batch.ts";
import { columnsOf, type Database } from "../../../../db/db.ts";
import {
  users,
  workflowJobs,
  workflowRuns,
  workflows,
  workflowTasks,
} from "../../../../db/schema/index.ts";
import type { WorkSubject } from "../../../../events/webhooks/payloads/workflow-payload.ts";
import type { WorkWebhookEvent } from "../../../../events/webhooks/payloads/webhook-event.ts";

const { payload: _event, ...runColumns } = columnsOf(workflowRuns, "r");
const { payload: _file, outputs: _outputs, ...jobColumns } = columnsOf(workflowJobs, "j");

/**
 * Reads the run or the job of a webhook event, in one round trip.
 *
 * @returns Undefined if it was deleted since.
 */
export async function readWorkSubject(
  db: Database,
  { repoId, runId, jobId = 0 }: WorkWebhookEvent,
): Promise<WorkSubject | undefined> {
  const isRun = and(eq(workflowRuns.id, runId), eq(workflowRuns.repoId, repoId));
  const { runs, files, jobs } = await batch(db, {
    runs: db
      .select({ run: runColumns, actor: columnsOf(users, "a") })
      .from(workflowRuns)
      .leftJoin(users, eq(users.id, workflowRuns.actorId))
      .where(isRun),
    files: db
      .select({ workflow: columnsOf(workflows, "w") })
      .from(workflowRuns)
      .innerJoin(
        workflows,
        and(eq(workflows.repoId, workflowRuns.repoId), eq(workflows.file, workflowRuns.file)),
      )
      .where(and(isRun, eq(workflows.isPresent, true))),
    jobs: db
      .select({ job: jobColumns, task: columnsOf(workflowTasks, "t") })
      .from(workflowJobs)
      .leftJoin(workflowTasks, eq(workflowTasks.id, workflowJobs.taskId))
      .where(and(eq(workflowJobs.id, jobId), eq(workflowJobs.runId, runId))),
  });
  const [found] = runs;
  const [job] = jobs;
  return (
    found && {
      run: found.run,
      actor: found.actor ?? undefined,
      workflow: files[0]?.workflow,
      job: job?.job,
      task: job?.task ?? null,
    }
  );
}
