import { createRoute, z } from "@hono/zod-openapi";

import { mergeUpstream } from "../../domain/repos/repository/merge-upstream.ts";
import { json, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { signedInRepo } from "../guards/repository.ts";
import { body, optionalFlag, optionalText } from "../json-body.ts";
import { RepoPath } from "./paths.ts";

const MergeUpstream = body({
  branch: optionalText(255).openapi({ description: "The default branch, if empty" }),
  ff_only: optionalFlag().openapi({ description: "Refuse a merge commit" }),
}).openapi("MergeUpstreamRequest");

const MergedUpstream = z
  .object({ merge_type: z.enum(["up-to-date", "fast-forward", "merge"]) })
  .openapi("MergeUpstreamResponse");

export const upstreamMerges = endpoints();

upstreamMerges.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/merge-upstream",
    operationId: "repoMergeUpstream",
    tags: ["repository"],
    summary: "Bring a branch of a fork up to date",
    description:
      "The upstream branch has the same name; for the default branch it may also be the upstream's default branch.",
    middleware: [signedInRepo("write:repository", { unit: "code", mode: "write" })] as const,
    request: {
      params: RepoPath,
      body: { required: true, ...json(MergeUpstream, "The branch") },
    },
    responses: {
      200: json(MergedUpstream, "What was done"),
      ...refusals(400, 401, 403, 404, 409, 413, 422, 423),
    },
  }),
  async (c) => {
    const { ctx, repo, user } = c.var;
    const sent = c.req.valid("json");
    const mergeType = await mergeUpstream(ctx, repo, user, {
      branch: sent.branch ?? "",
      isFastForwardOnly: sent.ff_only ?? false,
    });
    return c.json({ merge_type: mergeType }, 200);
  },
);
