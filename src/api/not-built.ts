import { TrieRouter } from "hono/router/trie-router";

/**
 * Operations of Gitea's API, version 1.25, that do not exist here yet: methods and path, one path a
 * line.
 *
 * One is left out, since an operation that exists takes a word of its path for an id:
 * `/repos/{owner}/{repo}/hooks/git`.
 */
const LIST = `
GET /activitypub/user-id/{id}
POST /activitypub/user-id/{id}/inbox
GET /admin/actions/jobs
GET /admin/actions/runs
GET /orgs/{org}/actions/jobs
GET /orgs/{org}/actions/runs
GET /repos/{owner}/{repo}/actions/artifacts
GET DELETE /repos/{owner}/{repo}/actions/artifacts/{artifact_id}
GET /repos/{owner}/{repo}/actions/artifacts/{artifact_id}/zip
GET /repos/{owner}/{repo}/actions/jobs
GET /repos/{owner}/{repo}/actions/jobs/{job_id}
GET /repos/{owner}/{repo}/actions/jobs/{job_id}/logs
GET /repos/{owner}/{repo}/actions/runs
GET DELETE /repos/{owner}/{repo}/actions/runs/{run}
GET /repos/{owner}/{repo}/actions/runs/{run}/artifacts
GET /repos/{owner}/{repo}/actions/runs/{run}/jobs
GET /repos/{owner}/{repo}/actions/tasks
GET /repos/{owner}/{repo}/actions/workflows
GET /repos/{owner}/{repo}/actions/workflows/{workflow_id}
PUT /repos/{owner}/{repo}/actions/workflows/{workflow_id}/disable
POST /repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches
PUT /repos/{owner}/{repo}/actions/workflows/{workflow_id}/enable
GET DELETE PATCH /repos/{owner}/{repo}/hooks/git/{id}
GET /user/actions/jobs
GET /user/actions/runs
`;

/** Each operation of the list, as method and path. */
export const notBuilt: readonly (readonly [method: string, path: string])[] = LIST.trim()
  .split("\n")
  .flatMap((line) => {
    const words = line.split(" ");
    const path = words.pop() ?? "";
    return words.map((method) => [method, path] as const);
  });

let router: TrieRouter<true> | undefined;

/** Whether a request is for an operation of Gitea that does not exist here yet. */
export function isNotBuilt(method: string, path: string): boolean {
  if (!router) {
    router = new TrieRouter();
    for (const [each, pattern] of notBuilt) {
      router.add(each, pattern.replaceAll(/\{(\w+)\}(?:\.\{\w+\})?/g, ":$1"), true);
    }
  }
  return router.match(method === "HEAD" ? "GET" : method, path)[0].length > 0;
}
