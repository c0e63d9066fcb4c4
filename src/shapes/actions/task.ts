import { z } from "@hono/zod-openapi";

import {
  WORK_STATES,
  type WorkflowJob,
  type WorkflowRun,
  type WorkflowTask,
} from "../../db/schema/index.ts";
import { formatTime } from "../../lib/time.ts";
import { Int64, NEVER, Time } from "../json.ts";
import type { RepositoryContext } from "../repos/repository.ts";
import type { Viewer } from "../viewer.ts";
import { runHtmlUrlOf } from "./workflow-run.ts";

export const Task = z
  .object({
    id: Int64,
    name: z.string().openapi({ description: "The name of its job" }),
    head_branch: z.string(),
    head_sha: z.string(),
    run_number: Int64,
    event: z.string(),
    display_title: z.string(),
    status: z.enum(WORK_STATES),
    workflow_id: z.string().openapi({ description: "The name of the file", example: "ci.yml" }),
    url: z.string().openapi({ format: "uri" }),
    created_at: Time,
    updated_at: Time,
    run_started_at: Time,
  })
  .openapi("ActionTask");

export const TaskPage = z
  .object({ workflow_runs: z.array(Task), total_count: Int64 })
  .openapi("ActionTaskResponse");

export const toTask = (
  repo: RepositoryContext,
  {
    task,
    job,
    run,
  }: {
    readonly task: WorkflowTask;
    readonly job: Pick<WorkflowJob, "name" | "position">;
    readonly run: Omit<WorkflowRun, "payload">;
  },
  viewer: Viewer,
): z.infer<typeof Task> => ({
  id: task.id,
  name: job.name,
  head_branch: run.headBranch,
  head_sha: run.headOid,
  run_number: run.number,
  event: run.event,
  display_title: run.title,
  status: task.state,
  workflow_id: run.file,
  url: `${runHtmlUrlOf(repo, run, viewer)}/jobs/${job.position}`,
  created_at: formatTime(task.startedAt),
  updated_at: formatTime(task.updatedAt),
  run_started_at: run.startedAt === null ? NEVER : formatTime(run.startedAt),
});
