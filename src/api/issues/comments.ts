import { createRoute, z } from "@hono/zod-openapi";

import { createComment } from "../../domain/issues/comments/create-comment.ts";
import { deleteComment } from "../../domain/issues/comments/delete-comment.ts";
import { toCommentDeletion } from "../../domain/exchange/webhooks/dispatch/deletion-payload.ts";
import { editComment } from "../../domain/issues/comments/edit-comment.ts";
import { findComment, findCommentAndIssue } from "../../domain/issues/comments/find-comment.ts";
import {
  listIssueComments,
  listRepositoryComments,
} from "../../domain/issues/comments/list-comments.ts";
import { findIssue } from "../../domain/issues/issue/find-issue.ts";
import { Comment, toComment } from "../../shapes/issues/comment.ts";
import { empty, json, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo, signedInRepo } from "../guards/repository.ts";
import { answerPage } from "../handlers.ts";
import { body, requiredText } from "../json-body.ts";
import { Paging, readPageOrAll } from "../paging.ts";
import { RepoPath } from "../repos/paths.ts";
import { CommentPath, IssueCommentPath, IssuePath } from "./paths.ts";
import { TimeRange } from "./time-range.ts";

/** Maximum characters of a comment: in UTF-8 half of what D1 stores in a row, at most. */
const COMMENT_MAX = 262_144;

const Text = { body: requiredText(COMMENT_MAX).openapi({ description: "Markdown" }) };
const CreateIssueCommentOption = body(Text).openapi("CreateIssueCommentOption");
const EditIssueCommentOption = body(Text).openapi("EditIssueCommentOption");

export const comments = endpoints();

comments.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/issues/comments",
    operationId: "issueGetRepoComments",
    tags: ["issue"],
    summary: "List the comments of all issues and pull requests of a repository",
    middleware: [inRepo("read:issue")] as const,
    request: { params: RepoPath, query: Paging.extend(TimeRange.shape) },
    responses: { 200: page(z.array(Comment), "The comments, oldest first"), ...refusals(401, 404) },
  }),
  (c) =>
    answerPage(
      c,
      ({ ctx, repo }, slice) => listRepositoryComments(ctx, repo, c.req.valid("query"), slice),
      toComment,
    ),
);

comments.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/issues/comments/{id}",
    operationId: "issueGetComment",
    tags: ["issue"],
    summary: "Get a comment",
    middleware: [inRepo("read:issue")] as const,
    request: { params: CommentPath },
    responses: { 200: json(Comment, "The comment"), ...refusals(401, 404) },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    return c.json(toComment(await findComment(ctx, repo, c.req.valid("param").id), viewer), 200);
  },
);

comments.openapi(
  createRoute({
    method: "patch",
    path: "/repos/{owner}/{repo}/issues/comments/{id}",
    operationId: "issueEditComment",
    tags: ["issue"],
    summary: "Edit a comment",
    middleware: [signedInRepo("write:issue")] as const,
    request: {
      params: CommentPath,
      body: { required: true, ...json(EditIssueCommentOption, "The new text") },
    },
    responses: {
      200: json(Comment, "The comment"),
      ...refusals(401, 403, 404, 409, 413, 422, 423),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const found = await findCommentAndIssue(ctx, repo, c.req.valid("param").id);
    const edited = await editComment(ctx, found, c.req.valid("json").body);
    return c.json(toComment(edited, viewer), 200);
  },
);

comments.openapi(
  createRoute({
    method: "delete",
    path: "/repos/{owner}/{repo}/issues/comments/{id}",
    operationId: "issueDeleteComment",
    tags: ["issue"],
    summary: "Delete a comment",
    middleware: [signedInRepo("write:issue")] as const,
    request: { params: CommentPath },
    responses: { 204: empty("The comment is deleted"), ...refusals(401, 403, 404, 423) },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    const found = await findCommentAndIssue(ctx, repo, c.req.valid("param").id);
    await deleteComment(ctx, found, toCommentDeletion);
    return c.body(null, 204);
  },
);

comments.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/issues/{index}/comments",
    operationId: "issueGetComments",
    tags: ["issue"],
    summary: "List the comments of an issue or pull request",
    middleware: [inRepo("read:issue")] as const,
    request: { params: IssuePath, query: Paging.extend(TimeRange.shape) },
    responses: {
      200: page(z.array(Comment), "The comments, oldest first; all of them without a page"),
      ...refusals(401, 404),
    },
  }),
  (c) =>
    answerPage(
      c,
      ({ ctx, repo }, slice) =>
        listIssueComments(ctx, repo, c.req.valid("param").index, c.req.valid("query"), slice),
      toComment,
      readPageOrAll,
    ),
);

comments.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/issues/{index}/comments",
    operationId: "issueCreateComment",
    tags: ["issue"],
    summary: "Comment on an issue or pull request",
    middleware: [signedInRepo("write:issue")] as const,
    request: {
      params: IssuePath,
      body: { required: true, ...json(CreateIssueCommentOption, "The comment") },
    },
    responses: {
      201: json(Comment, "The new comment"),
      ...refusals(401, 403, 404, 413, 422, 423),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const issue = await findIssue(ctx, repo, c.req.valid("param").index);
    const comment = await createComment(ctx, issue, c.req.valid("json").body);
    return c.json(toComment(comment, viewer), 201);
  },
);

comments.openapi(
  createRoute({
    method: "patch",
    path: "/repos/{owner}/{repo}/issues/{index}/comments/{id}",
    operationId: "issueEditCommentDeprecated",
    tags: ["issue"],
    summary: "Edit a comment by its issue",
    deprecated: true,
    middleware: [signedInRepo("write:issue")] as const,
    request: {
      params: IssueCommentPath,
      body: { required: true, ...json(EditIssueCommentOption, "The new text") },
    },
    responses: {
      200: json(Comment, "The comment"),
      ...refusals(401, 403, 404, 409, 413, 422, 423),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const { index, id } = c.req.valid("param");
    const found = await findCommentAndIssue(ctx, repo, id, index);
    const edited = await editComment(ctx, found, c.req.valid("json").body);
    return c.json(toComment(edited, viewer), 200);
  },
);

comments.openapi(
  createRoute({
    method: "delete",
    path: "/repos/{owner}/{repo}/issues/{index}/comments/{id}",
    operationId: "issueDeleteCommentDeprecated",
    tags: ["issue"],
    summary: "Delete a comment by its issue",
    deprecated: true,
    middleware: [signedInRepo("write:issue")] as const,
    request: { params: IssueCommentPath },
    responses: { 204: empty("The comment is deleted"), ...refusals(401, 403, 404, 423) },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    const { index, id } = c.req.valid("param");
    await deleteComment(ctx, await findCommentAndIssue(ctx, repo, id, index), toCommentDeletion);
    return c.body(null, 204);
  },
);
