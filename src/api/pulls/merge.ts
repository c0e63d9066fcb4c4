import { createRoute, z } from "@hono/zod-openapi";

import { MERGE_STYLES } from "../../db/schema/index.ts";
import { deleteMergedBranch } from "../../domain/pulls/merge/delete-merged-branch.ts";
import { markMerged } from "../../domain/pulls/merge/mark-merged.ts";
import { mergePull, MergeQueueRequired } from "../../domain/pulls/merge/merge-pull.ts";
import { enqueuePull } from "../../domain/pulls/merge/queue/enqueue-pull.ts";
import { cancelMerge, scheduleMerge } from "../../domain/pulls/merge/schedule-merge.ts";
import { updateHeadBranch } from "../../domain/pulls/merge/update-head-branch.ts";
import { notFound } from "../../lib/failure.ts";
import { json, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inPull, signedInPull } from "../guards/pull.ts";
import { done } from "../handlers.ts";
import { IssuePath } from "../issues/paths.ts";
import { body, optionalFlag } from "../json-body.ts";
import { optionalCommit, optionalHead, optionalMessage, optionalTitle } from "./merge-fields.ts";

const MergePullRequest = body({
  Do: z.enum([...MERGE_STYLES, "manually-merged"]).openapi({
    description: "The style; `manually-merged` for one whose commits are in the base already",
  }),
  MergeTitleField: optionalTitle(),
  MergeMessageField: optionalMessage(),
  MergeCommitID: optionalCommit(),
  head_commit_id: optionalHead(),
  force_merge: optionalFlag().openapi({
    description: "Whether an administrator of the repository overrides the rule of the base",
  }),
  merge_when_checks_succeed: optionalFlag(),
  delete_branch_after_merge: optionalFlag().openapi({
    description: "Whether the branch of the head is deleted; by default as the repository says",
  }),
}).openapi("MergePullRequestOption");

const path = "/repos/{owner}/{repo}/pulls/{index}/merge";

export const pullMerge = endpoints();

pullMerge.openapi(
  createRoute({
    method: "get",
    path,
    operationId: "repoPullRequestIsMerged",
    tags: ["repository"],
    summary: "Check if a pull request is merged",
    middleware: [inPull("read:repository")] as const,
    request: { params: IssuePath },
    responses: { 204: { description: "It is merged" }, ...refusals(401, 403, 404) },
  }),
  (c) => {
    const { pull } = c.var.pull;
    if (pull.mergedAt === null) throw notFound("the pull request is not merged");
    return c.body(null, 204);
  },
);

pullMerge.openapi(
  createRoute({
    method: "post",
    path,
    operationId: "repoMergePullRequest",
    tags: ["repository"],
    summary: "Merge a pull request",
    description:
      "By a commit or commits that the style makes, or once all checks succeed, or by the merge queue of the base. 405 means that it can't be merged now.",
    middleware: [signedInPull("write:repository")] as const,
    request: {
      params: IssuePath,
      body: { required: true, ...json(MergePullRequest, "How to merge it") },
    },
    responses: {
      200: { description: "It is merged" },
      201: {
        description:
          "It is merged once everything that is required is there, or in the merge queue",
      },
      ...refusals(401, 403, 404, 405, 409, 413, 422, 423),
    },
  }),
  async (c) => {
    const { ctx, repo, pull, user } = c.var;
    const input = c.req.valid("json");
    const isBranchDeleted =
      input.delete_branch_after_merge ?? repo.row.pullSettings.defaultDeleteBranchAfterMerge;
    if (input.Do === "manually-merged") {
      await markMerged(ctx, pull, input.MergeCommitID ?? "");
      return c.body(null, 200);
    }
    const options = {
      style: input.Do,
      title: input.MergeTitleField ?? "",
      message: input.MergeMessageField ?? "",
      isBranchDeleted,
    };
    if (input.merge_when_checks_succeed) {
      await scheduleMerge(ctx, pull, user, options);
      return c.body(null, 201);
    }
    const headOid = input.head_commit_id ?? "";
    try {
      await mergePull(ctx, pull, user, {
        ...options,
        headOid,
        isForced: input.force_merge ?? false,
      });
    } catch (error) {
      if (!(error instanceof MergeQueueRequired)) throw error;
      await enqueuePull(ctx, pull, user, { ...options, headOid });
      return c.body(null, 201);
    }
    if (isBranchDeleted) await deleteMergedBranch(ctx, pull);
    return c.body(null, 200);
  },
);

pullMerge.openapi(
  createRoute({
    method: "delete",
    path,
    operationId: "repoCancelScheduledAutoMerge",
    tags: ["repository"],
    summary: "Cancel the scheduled merge of a pull request",
    middleware: [signedInPull("write:repository")] as const,
    request: { params: IssuePath },
    responses: {
      204: { description: "It is scheduled no more" },
      ...refusals(401, 403, 404, 423),
    },
  }),
  (c) => done(c, ({ ctx, pull, user }) => cancelMerge(ctx, pull, user)),
);

pullMerge.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/pulls/{index}/update",
    operationId: "repoUpdatePullRequest",
    tags: ["repository"],
    summary: "Bring the head of a pull request up to date with its base",
    middleware: [signedInPull("write:repository")] as const,
    request: {
      params: IssuePath,
      query: z.object({
        style: z.string().max(64).optional().openapi({
          description: "`rebase`, or `merge` for any other value",
        }),
      }),
    },
    responses: {
      200: { description: "The branch of the head has everything of the base" },
      ...refusals(401, 403, 404, 409, 422, 423),
    },
  }),
  async (c) => {
    const { ctx, pull, user } = c.var;
    const isRebase = c.req.valid("query").style === "rebase";
    await updateHeadBranch(ctx, pull, user, isRebase ? "rebase" : "merge");
    return c.body(null, 200);
  },
);
