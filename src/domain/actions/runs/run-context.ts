import type { WorkflowRun } from "../../../db/schema/index.ts";

/** What is known of a run when its workflow is planned, and its repository. */
export interface RunFacts {
  readonly run: Pick<
    WorkflowRun,
    "event" | "ref" | "headOid" | "headBranch" | "baseBranch" | "pullNumber" | "file" | "payload"
  >;
  readonly repoName: string;
  readonly ownerName: string;
  /** Who caused it; "" for the schedule. */
  readonly actorName: string;
}

/** The account in whose name the schedule starts runs. */
const SERVICE_ACTOR = "gitea-actions";

/** The context `github` of expressions, as far as all tasks of a run share it. */
export function runContext(
  { publicUrl }: { readonly publicUrl: string },
  { run, repoName, ownerName, actorName }: RunFacts,
) {
  const repository = `${ownerName}/${repoName}`;
  const isPull = run.pullNumber !== null;
  return {
    actor: actorName || SERVICE_ACTOR,
    api_url: `${publicUrl}/api/v1`,
    base_ref: isPull ? run.baseBranch : "",
    head_ref: isPull ? run.headBranch : "",
    event: JSON.parse(run.payload) as unknown,
    event_name: run.event,
    ref: run.ref,
    ref_name: run.ref.replace(/^refs\/(?:heads|tags|pull)\//, ""),
    ref_type: run.ref.startsWith("refs/tags/") ? "tag" : run.ref === "" ? "" : "branch",
    repository,
    repository_owner: ownerName,
    repositoryUrl: `${publicUrl}/${repository}`,
    server_url: `${publicUrl}/`,
    sha: run.headOid,
    triggering_actor: actorName || SERVICE_ACTOR,
    workflow: run.file,
  };
}
