import { z } from "@hono/zod-openapi";

import type {
  TaskStep,
  WorkflowJob as JobRow,
  WorkflowRun as RunRow,
} from "../../db/schema/index.ts";
import { formatTime } from "../../lib/time.ts";
import { Int64, NEVER, Time } from "../json.ts";
import type { RepositoryContext } from "../repos/repository.ts";
import { apiUrlOf } from "../urls.ts";
import type { Viewer } from "../viewer.ts";
import { statusOf, WorkConclusion, WorkStatus } from "./work-status.ts";
import { runHtmlUrlOf, runUrlOf } from "./workflow-run.ts";

const Step = z
  .object({
    name: z.string(),
    number: Int64.openapi({ description: "From 0" }),
    status: WorkStatus,
    conclusion: WorkConclusion,
    started_at: Time,
    completed_at: Time,
  })
  .openapi("ActionWorkflowStep");

export const WorkflowJob = z
  .object({
    id: Int64,
    url: z.string().openapi({ format: "uri" }),
    html_url: z.string().openapi({ format: "uri" }),
    run_id: Int64,
    run_url: z.string().openapi({ format: "uri" }),
    name: z.string(),
    labels: z.array(z.string()),
    run_attempt: Int64,
    head_sha: z.string(),
    head_branch: z.string(),
    status: WorkStatus,
    conclusion: WorkConclusion,
    runner_id: Int64.openapi({ description: "0 before a runner has it" }),
    runner_name: z.string(),
    steps: z.array(Step).openapi({ description: "Those of its last attempt" }),
    created_at: Time,
    started_at: Time,
    completed_at: Time,
  })
  .openapi("ActionWorkflowJob");

export const WorkflowJobPage = z
  .object({ jobs: z.array(WorkflowJob), total_count: Int64 })
  .openapi("ActionWorkflowJobsResponse");

/** A job with its run and the runner of its last attempt. */
export interface JobContext {
  readonly job: Omit<JobRow, "payload" | "outputs">;
  readonly run: Omit<RunRow, "payload">;
  readonly repo: RepositoryContext;
  readonly task: {
    readonly runnerId: number;
    readonly runnerName: string;
    readonly steps: readonly TaskStep[];
  } | null;
}

const timeOrNever = (ms: number | null | undefined): string =>
  ms === null || ms === undefined ? NEVER : formatTime(ms);

const toStep = ({ name, state, startedAt, stoppedAt }: TaskStep, number: number) => ({
  name,
  number,
  ...statusOf(state),
  started_at: timeOrNever(startedAt),
  completed_at: timeOrNever(stoppedAt),
});

export const toWorkflowJob = (
  { job, run, repo, task }: JobContext,
  viewer: Viewer,
): z.infer<typeof WorkflowJob> => ({
  id: job.id,
  url: `${apiUrlOf(repo, viewer)}/actions/jobs/${job.id}`,
  html_url: `${runHtmlUrlOf(repo, run, viewer)}/jobs/${job.position}`,
  run_id: run.id,
  run_url: runUrlOf(repo, run, viewer),
  name: job.name,
  labels: [...job.labels],
  run_attempt: job.attempt,
  head_sha: run.headOid,
  head_branch: run.headBranch,
  ...statusOf(job.state),
  runner_id: task?.runnerId ?? 0,
  runner_name: task?.runnerName ?? "",
  steps: (task?.steps ?? []).map(toStep),
  created_at: formatTime(job.createdAt),
  started_at: timeOrNever(job.startedAt),
  completed_at: timeOrNever(job.stoppedAt),
});
