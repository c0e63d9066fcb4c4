import { createRoute, z } from "@hono/zod-openapi";

import {
  chooseHeadRepository,
  parseComparison,
} from "../../domain/code/commits/compare-revisions.ts";
import { findPullOfBranches } from "../../domain/pulls/pull/find-pull.ts";
import { PullRequest, toPullRequest } from "../../shapes/pulls/pull-request.ts";
import { checkMergeability } from "../../domain/pulls/pull/check-mergeability.ts";
import { json, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inNetwork } from "../guards/repository.ts";
import { RepoPath } from "../repos/paths.ts";

const BranchesPath = RepoPath.extend({
  base: z.string().openapi({ description: "The branch that it is to be merged into" }),
  head: z.string().openapi({
    description:
      "The branch to merge. It may be in another repository of the same network: `owner:branch` or `owner/name:branch`",
  }),
});

/** Its path matches those of most other routes of pull requests. */
export const pullsOfBranches = endpoints();

pullsOfBranches.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/pulls/{base}/{head*}",
    operationId: "repoGetPullRequestByBaseHead",
    tags: ["repository"],
    summary: "Get the pull request of two branches: the open one, or else the last one",
    middleware: [
      inNetwork("read:repository", { unit: "pulls", mode: "read" }, (c) => {
        const { headOwner, headRepo } = parseComparison(c.req.param("head") ?? "");
        return headOwner === undefined ? undefined : { owner: headOwner, repo: headRepo };
      }),
    ] as const,
    request: { params: BranchesPath },
    responses: { 200: json(PullRequest, "The pull request"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, repo, relatives, viewer } = c.var;
    const { base, head } = c.req.valid("param");
    const text = parseComparison(head);
    const { row } = chooseHeadRepository(repo, relatives, text);
    const branches = { base, headRepoId: row.id, head: text.head };
    const pull = await checkMergeability(ctx, await findPullOfBranches(ctx, repo, branches));
    return c.json(toPullRequest(pull, viewer), 200);
  },
);
