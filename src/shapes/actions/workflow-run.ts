import { z } from "@hono/zod-openapi";

import type { User as UserRow, WorkflowRun as RunRow } from "../../db/schema/index.ts";
import { formatTime } from "../../lib/time.ts";
import { Int64, NEVER, Time } from "../json.ts";
import { Repository, type RepositoryContext, toRepository } from "../repos/repository.ts";
import { apiUrlOf, htmlUrlOf } from "../urls.ts";
import { toGhost, toUser, User } from "../users/user.ts";
import type { Viewer } from "../viewer.ts";
import { statusOf, WorkConclusion, WorkStatus } from "./work-status.ts";

const Fault = z
  .object({
    message: z.string(),
    line: Int64.optional().openapi({ description: "From 1" }),
    column: Int64.optional(),
  })
  .openapi("ActionWorkflowFault");

export const WorkflowRun = z
  .object({
    id: Int64,
    url: z.string().openapi({ format: "uri" }),
    html_url: z.string().openapi({ format: "uri" }),
    display_title: z.string(),
    path: z.string().openapi({ example: "ci.yml@refs/heads/main" }),
    event: z.string(),
    run_attempt: Int64,
    run_number: Int64,
    repository_id: Int64,
    head_sha: z.string(),
    head_branch: z.string(),
    status: WorkStatus,
    conclusion: WorkConclusion,
    actor: User,
    trigger_actor: User,
    repository: Repository,
    head_repository: Repository,
    started_at: Time,
    completed_at: Time,
    faults: z
      .array(Fault)
      .openapi({ description: "Why the workflow file can't be run; empty where it can" }),
    needs_approval: z.boolean(),
  })
  .openapi("ActionWorkflowRun");

export const WorkflowRunPage = z
  .object({ workflow_runs: z.array(WorkflowRun), total_count: Int64 })
  .openapi("ActionWorkflowRunsResponse");

/** A run with its repository and who caused it. */
export interface RunContext {
  readonly run: Omit<RunRow, "payload">;
  readonly repo: RepositoryContext;
  /** Undefined for the schedule, and for an account that is gone. */
  readonly actor: UserRow | undefined;
}

/** The API URL of a run. */
export const runUrlOf = (
  repo: RepositoryContext,
  { id }: { readonly id: number },
  root: { readonly rootUrl: string },
): string => `${apiUrlOf(repo, root)}/actions/runs/${id}`;

/** The page of a run. */
export const runHtmlUrlOf = (
  repo: Parameters<typeof htmlUrlOf>[0],
  { number }: { readonly number: number },
  root: { readonly rootUrl: string },
): string => `${htmlUrlOf(repo, root)}/actions/runs/${number}`;

export function toWorkflowRun(
  { run, repo, actor: account }: RunContext,
  viewer: Viewer,
): z.infer<typeof WorkflowRun> {
  const actor = account ? toUser(account, viewer) : toGhost(viewer);
  const repository = toRepository(repo, viewer);
  return {
    id: run.id,
    url: runUrlOf(repo, run, viewer),
    html_url: runHtmlUrlOf(repo, run, viewer),
    display_title: run.title,
    path: `${run.file}@${run.ref}`,
    event: run.event,
    run_attempt: run.attempt,
    run_number: run.number,
    repository_id: run.repoId,
    head_sha: run.headOid,
    head_branch: run.headBranch,
    ...statusOf(run.state),
    actor,
    trigger_actor: actor,
    repository,
    head_repository: repository,
    started_at: run.startedAt === null ? NEVER : formatTime(run.startedAt),
    completed_at: run.stoppedAt === null ? NEVER : formatTime(run.stoppedAt),
    faults: run.faults.map(({ message, line, column }) => ({
      message,
      ...(line !== undefined && { line }),
      ...(column !== undefined && { column }),
    })),
    needs_approval: run.needsApproval,
  };
}
