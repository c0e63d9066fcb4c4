import type { WorkflowRow } from "../../../db/schema/index.ts";
import { toWorkflow } from "../../../shapes/actions/workflow.ts";
import { type JobContext, toWorkflowJob } from "../../../shapes/actions/workflow-job.ts";
import { type RunContext, toWorkflowRun } from "../../../shapes/actions/workflow-run.ts";
import { toRepository } from "../../../shapes/repos/repository.ts";
import type {
  WorkflowJobPayload,
  WorkflowRunPayload,
} from "../../../shapes/webhooks/workflow-payloads.ts";
import type { PayloadContext } from "./payload-context.ts";
import { toSender } from "./receiver.ts";
import type { WorkWebhookEvent } from "./webhook-event.ts";

/** A run as it is now, with its workflow and, for an event of a job, the job. */
export interface WorkSubject {
  readonly run: RunContext["run"];
  readonly actor: RunContext["actor"];
  readonly workflow: WorkflowRow | undefined;
  readonly job: JobContext["job"] | undefined;
  readonly task: JobContext["task"];
}

/** The payload of a run in the state that it had when the event was recorded. */
export const toWorkflowRunPayload = (
  context: PayloadContext,
  { action, state, attempt }: WorkWebhookEvent,
  { run, actor, workflow }: WorkSubject,
): WorkflowRunPayload => ({
  ...toCommon(context, action, workflow),
  workflow_run: toWorkflowRun(
    { run: { ...run, state, attempt }, repo: context.repo, actor },
    context.viewer,
  ),
});

/** The same of a job. */
export const toWorkflowJobPayload = (
  context: PayloadContext,
  { action, state, attempt }: WorkWebhookEvent,
  { run, workflow, task }: WorkSubject,
  job: JobContext["job"],
): WorkflowJobPayload => ({
  ...toCommon(context, action, workflow),
  workflow_job: toWorkflowJob(
    { job: { ...job, state, attempt }, run, repo: context.repo, task },
    context.viewer,
  ),
});

const toCommon = (
  { repo, sender, viewer }: PayloadContext,
  action: WorkWebhookEvent["action"],
  workflow: WorkflowRow | undefined,
) => ({
  action,
  workflow: workflow ? toWorkflow(repo, workflow, viewer) : null,
  repository: toRepository(repo, viewer),
  sender: toSender(sender, viewer),
});
