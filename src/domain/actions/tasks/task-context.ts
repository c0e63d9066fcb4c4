import type { Ctx } from "../../../context.ts";
import type { WorkflowJob, WorkflowRun, WorkflowTask } from "../../../db/schema/index.ts";

/** What the context `github` of a task is made of. */
export interface TaskFacts {
  readonly task: WorkflowTask;
  readonly job: WorkflowJob;
  readonly run: WorkflowRun;
  readonly repoName: string;
  readonly ownerName: string;
  /** Who caused the run; "" for nobody. */
  readonly actorName: string;
  readonly token: string;
  readonly runtimeToken: string;
}

/** Where actions are fetched from that name no server. */
const ACTIONS_URL = "https://github.com";

/** The account that acts in runs of the schedule. */
const SERVICE_ACTOR = "gitea-actions";

/** The context `github` of expressions in a job: texts, but the event, as Gitea sends it. */
export function taskContext(
  { publicUrl }: Pick<Ctx, "publicUrl">,
  { task, job, run, repoName, ownerName, actorName, token, runtimeToken }: TaskFacts,
): Record<string, unknown> {
  const repository = `${ownerName}/${repoName}`;
  const isPull = run.pullNumber !== null;
  return {
    action: "",
    action_path: "",
    action_ref: "",
    action_repository: "",
    action_status: "",
    actor: actorName || SERVICE_ACTOR,
    api_url: `${publicUrl}/api/v1`,
    base_ref: isPull ? run.baseBranch : "",
    head_ref: isPull ? run.headBranch : "",
    env: "",
    event: JSON.parse(run.payload),
    event_name: run.event,
    event_path: "",
    graphql_url: "",
    job: job.jobId,
    path: "",
    ref: run.ref,
    ref_name: run.ref.replace(/^refs\/(?:heads|tags|pull)\//, ""),
    ref_protected: false,
    ref_type: run.ref.startsWith("refs/tags/") ? "tag" : run.ref === "" ? "" : "branch",
    repository,
    repository_owner: ownerName,
    repositoryUrl: `${publicUrl}/${repository}`,
    retention_days: "",
    run_id: String(run.id),
    run_number: String(run.number),
    run_attempt: String(task.attempt),
    secret_source: "Actions",
    server_url: `${publicUrl}/`,
    sha: run.headOid,
    triggering_actor: actorName || SERVICE_ACTOR,
    workflow: run.file,
    workspace: "",
    gitea_default_actions_url: ACTIONS_URL,
    token,
    gitea_runtime_token: runtimeToken,
  };
}
