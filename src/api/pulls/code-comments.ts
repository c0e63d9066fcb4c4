import { createRoute, z } from "@hono/zod-openapi";

import type { Ctx } from "../../context.ts";
import { applyCodeSuggestion } from "../../domain/pulls/code-review/apply-suggestion.ts";
import { findPull } from "../../domain/pulls/pull/find-pull.ts";
import {
  findCodeComment,
  listCodeComments,
} from "../../domain/pulls/reviews/find-code-comments.ts";
import { markConversation } from "../../domain/pulls/reviews/resolve-conversation.ts";
import { PullReviewComment, toPullReviewComment } from "../../shapes/pulls/pull-review-comment.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { empty, json, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { signedInPull } from "../guards/pull.ts";
import { inRepo, signedInRepo } from "../guards/repository.ts";
import { answerPage, done } from "../handlers.ts";
import { IssueCommentPath, IssuePath } from "../issues/paths.ts";
import { body, optionalText } from "../json-body.ts";
import { Paging } from "../paging.ts";

// Gitea's API reads comments on code by their review only, and marks no conversation.

const MESSAGE_MAX = 65_536;

const ApplySuggestionOption = body({
  message: optionalText(MESSAGE_MAX).openapi({ description: "The message of the commit" }),
}).openapi("ApplySuggestionOption");

const AppliedSuggestion = z
  .object({
    sha: z.string().openapi({ description: "The new commit" }),
    branch: z.string().openapi({ description: "The branch of the head" }),
  })
  .openapi("AppliedSuggestion");

export const codeComments = endpoints();

codeComments.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/pulls/{index}/comments",
    operationId: "repoListPullComments",
    tags: ["repository"],
    summary: "List the comments on code of a pull request",
    middleware: [inRepo("read:repository", { unit: "pulls", mode: "read" })] as const,
    request: { params: IssuePath, query: Paging },
    responses: {
      200: page(z.array(PullReviewComment), "The comments of all reviews, oldest first"),
      ...refusals(401, 404),
    },
  }),
  (c) =>
    answerPage(
      c,
      ({ ctx, repo }, slice) => listCodeComments(ctx, repo, c.req.valid("param").index, slice),
      toPullReviewComment,
    ),
);

codeComments.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/pulls/{index}/comments/{id}/resolve",
    operationId: "repoResolvePullConversation",
    tags: ["repository"],
    summary: "Resolve the conversation of a comment on code",
    middleware: [signedInRepo("write:repository", { unit: "pulls", mode: "read" })] as const,
    request: { params: IssueCommentPath },
    responses: {
      204: empty("The conversation is resolved"),
      ...refusals(401, 403, 404, 422, 423),
    },
  }),
  (c) => done(c, ({ ctx, repo }) => setResolved(ctx, repo, c.req.valid("param"), true)),
);

codeComments.openapi(
  createRoute({
    method: "delete",
    path: "/repos/{owner}/{repo}/pulls/{index}/comments/{id}/resolve",
    operationId: "repoReopenPullConversation",
    tags: ["repository"],
    summary: "Reopen the conversation of a comment on code",
    middleware: [signedInRepo("write:repository", { unit: "pulls", mode: "read" })] as const,
    request: { params: IssueCommentPath },
    responses: {
      204: empty("The conversation is not resolved"),
      ...refusals(401, 403, 404, 422, 423),
    },
  }),
  (c) => done(c, ({ ctx, repo }) => setResolved(ctx, repo, c.req.valid("param"), false)),
);

codeComments.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/pulls/{index}/comments/{id}/apply-suggestion",
    operationId: "repoApplyPullSuggestion",
    tags: ["repository"],
    summary: "Apply the suggestion of a comment on code as a commit to the branch of the head",
    middleware: [signedInPull("write:repository", { showsRules: true })] as const,
    request: {
      params: IssueCommentPath,
      body: { required: false, ...json(ApplySuggestionOption, "The commit") },
    },
    responses: {
      201: json(AppliedSuggestion, "The new commit"),
      ...refusals(401, 403, 404, 409, 413, 422, 423),
    },
  }),
  async (c) => {
    const { ctx, repo, pull, user } = c.var;
    const { index, id } = c.req.valid("param");
    const comment = await findCodeComment(ctx, repo, index, id);
    const { message } = c.req.valid("json");
    const made = await applyCodeSuggestion(ctx, pull, comment, user, message);
    return c.json({ sha: made.commitOid, branch: made.branch }, 201);
  },
);

async function setResolved(
  ctx: Ctx,
  repo: RepositoryContext,
  { index, id }: z.infer<typeof IssueCommentPath>,
  isResolved: boolean,
): Promise<void> {
  const [pull, comment] = await Promise.all([
    findPull(ctx, repo, index),
    findCodeComment(ctx, repo, index, id),
  ]);
  await markConversation(ctx, pull, comment, isResolved);
}
