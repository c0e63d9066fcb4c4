import { createRoute, z } from "@hono/zod-openapi";

import {
  listCommentVersions,
  listIssueVersions,
} from "../../domain/issues/comments/list-versions.ts";
import { ContentVersion, toContentVersion } from "../../shapes/issues/content-version.ts";
import { page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo } from "../guards/repository.ts";
import { answerPage } from "../handlers.ts";
import { Paging } from "../paging.ts";
import { CommentPath, IssuePath } from "./paths.ts";

/** The former texts of issues and comments. An extension of Gitea's API. */
export const contentHistory = endpoints();

contentHistory.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/issues/{index}/history",
    operationId: "issueGetHistory",
    tags: ["issue"],
    summary: "List the versions of the text of an issue or pull request",
    middleware: [inRepo("read:issue")] as const,
    request: { params: IssuePath, query: Paging },
    responses: {
      200: page(z.array(ContentVersion), "The versions, the original first; none without an edit"),
      ...refusals(401, 404),
    },
  }),
  (c) =>
    answerPage(
      c,
      ({ ctx, repo }, slice) => listIssueVersions(ctx, repo, c.req.valid("param").index, slice),
      toContentVersion,
    ),
);

contentHistory.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/issues/comments/{id}/history",
    operationId: "issueGetCommentHistory",
    tags: ["issue"],
    summary: "List the versions of a comment",
    middleware: [inRepo("read:issue")] as const,
    request: { params: CommentPath, query: Paging },
    responses: {
      200: page(z.array(ContentVersion), "The versions, the original first; none without an edit"),
      ...refusals(401, 404),
    },
  }),
  (c) =>
    answerPage(
      c,
      ({ ctx, repo }, slice) => listCommentVersions(ctx, repo, c.req.valid("param").id, slice),
      toContentVersion,
    ),
);
