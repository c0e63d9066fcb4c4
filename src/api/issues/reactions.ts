import { createRoute, z } from "@hono/zod-openapi";

import { findCommentAndIssue } from "../../domain/issues/comments/find-comment.ts";
import { ALLOWED_REACTIONS } from "../../shapes/issues/allowed-reactions.ts";
import { findIssue } from "../../domain/issues/issue/find-issue.ts";
import { addReaction, removeReaction } from "../../domain/issues/reactions/change-reactions.ts";
import {
  listCommentReactions,
  listIssueReactions,
} from "../../domain/issues/reactions/list-reactions.ts";
import { Reaction, toReaction } from "../../shapes/issues/reaction.ts";
import { empty, json, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo, signedInRepo } from "../guards/repository.ts";
import { answerPage } from "../handlers.ts";
import { body, optionalText } from "../json-body.ts";
import { Paging, readPageOrAll } from "../paging.ts";
import { CommentPath, IssuePath } from "./paths.ts";

const CONTENT_MAX = 64;

const EditReactionOption = body({
  content: optionalText(CONTENT_MAX).openapi({
    description: `One of ${ALLOWED_REACTIONS.join(", ")}`,
  }),
}).openapi("EditReactionOption");

const added = {
  200: json(Reaction, "The reaction, which existed before"),
  201: json(Reaction, "The new reaction"),
};
const chosen = { required: true, ...json(EditReactionOption, "The reaction") };
const unchosen = { required: false, ...json(EditReactionOption, "The reaction") };

export const reactions = endpoints();

reactions.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/issues/{index}/reactions",
    operationId: "issueGetIssueReactions",
    tags: ["issue"],
    summary: "List the reactions to an issue or pull request",
    middleware: [inRepo("read:issue")] as const,
    request: { params: IssuePath, query: Paging },
    responses: {
      200: page(z.array(Reaction), "The reactions, oldest first"),
      ...refusals(401, 404),
    },
  }),
  (c) =>
    answerPage(
      c,
      ({ ctx, repo }, slice) => listIssueReactions(ctx, repo, c.req.valid("param").index, slice),
      toReaction,
    ),
);

reactions.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/issues/{index}/reactions",
    operationId: "issuePostIssueReaction",
    tags: ["issue"],
    summary: "React to an issue or pull request",
    middleware: [signedInRepo("write:issue")] as const,
    request: { params: IssuePath, body: chosen },
    responses: { ...added, ...refusals(401, 403, 404, 413, 422, 423) },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const issue = await findIssue(ctx, repo, c.req.valid("param").index);
    const { content = "" } = c.req.valid("json");
    const { reaction, isNew } = await addReaction(ctx, { issue }, content);
    return c.json(toReaction(reaction, viewer), isNew ? 201 : 200);
  },
);

reactions.openapi(
  createRoute({
    method: "delete",
    path: "/repos/{owner}/{repo}/issues/{index}/reactions",
    operationId: "issueDeleteIssueReaction",
    tags: ["issue"],
    summary: "Remove a reaction to an issue or pull request",
    middleware: [signedInRepo("write:issue")] as const,
    request: { params: IssuePath, body: unchosen },
    responses: {
      200: empty("The reaction is not there"),
      ...refusals(401, 403, 404, 413, 422, 423),
    },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    const issue = await findIssue(ctx, repo, c.req.valid("param").index);
    await removeReaction(ctx, { issue }, c.req.valid("json").content ?? "");
    return c.body(null, 200);
  },
);

reactions.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/issues/comments/{id}/reactions",
    operationId: "issueGetCommentReactions",
    tags: ["issue"],
    summary: "List the reactions to a comment",
    middleware: [inRepo("read:issue")] as const,
    request: { params: CommentPath, query: Paging },
    responses: {
      200: page(z.array(Reaction), "The reactions, oldest first; all of them without a page"),
      ...refusals(401, 404),
    },
  }),
  (c) =>
    answerPage(
      c,
      ({ ctx, repo }, slice) => listCommentReactions(ctx, repo, c.req.valid("param").id, slice),
      toReaction,
      readPageOrAll,
    ),
);

reactions.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/issues/comments/{id}/reactions",
    operationId: "issuePostCommentReaction",
    tags: ["issue"],
    summary: "React to a comment",
    middleware: [signedInRepo("write:issue")] as const,
    request: { params: CommentPath, body: chosen },
    responses: { ...added, ...refusals(401, 403, 404, 413, 422, 423) },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const subject = await findCommentAndIssue(ctx, repo, c.req.valid("param").id);
    const { content = "" } = c.req.valid("json");
    const { reaction, isNew } = await addReaction(ctx, subject, content);
    return c.json(toReaction(reaction, viewer), isNew ? 201 : 200);
  },
);

reactions.openapi(
  createRoute({
    method: "delete",
    path: "/repos/{owner}/{repo}/issues/comments/{id}/reactions",
    operationId: "issueDeleteCommentReaction",
    tags: ["issue"],
    summary: "Remove a reaction to a comment",
    middleware: [signedInRepo("write:issue")] as const,
    request: { params: CommentPath, body: unchosen },
    responses: {
      200: empty("The reaction is not there"),
      ...refusals(401, 403, 404, 413, 422, 423),
    },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    const subject = await findCommentAndIssue(ctx, repo, c.req.valid("param").id);
    await removeReaction(ctx, subject, c.req.valid("json").content ?? "");
    return c.body(null, 200);
  },
);
