import { createRoute, z } from "@hono/zod-openapi";

import { findPull } from "../../domain/pulls/find-pull.ts";
import { findCodeComment, listCodeComments } from "../../domain/reviews/find-code-comments.ts";
import { markConversation } from "../../domain/reviews/resolve-conversation.ts";
import { PullReviewComment, toPullReviewComment } from "../../shapes/pulls/pull-review-comment.ts";
import { empty, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo, signedInRepo } from "../guards/repository.ts";
import { IssueCommentPath, IssuePath } from "../issues/paths.ts";
import { pageOf, Paging } from "../paging.ts";

// Gitea's API reads comments on code by their review only, and marks no conversation.

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
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const pull = await findPull(ctx, repo, c.req.valid("param").index);
    const list = await pageOf(c, c.req.valid("query"), (slice) =>
      listCodeComments(ctx, pull, slice),
    );
    return c.json(
      list.map((each) => toPullReviewComment(each, viewer)),
      200,
    );
  },
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
  async (c) => {
    const { ctx, repo } = c.var;
    const { index, id } = c.req.valid("param");
    const pull = await findPull(ctx, repo, index);
    await markConversation(ctx, pull, await findCodeComment(ctx, pull, id), true);
    return c.body(null, 204);
  },
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
  async (c) => {
    const { ctx, repo } = c.var;
    const { index, id } = c.req.valid("param");
    const pull = await findPull(ctx, repo, index);
    await markConversation(ctx, pull, await findCodeComment(ctx, pull, id), false);
    return c.body(null, 204);
  },
);
