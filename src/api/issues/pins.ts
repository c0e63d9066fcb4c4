import { createRoute, z } from "@hono/zod-openapi";

import { findIssue } from "../../domain/issues/issue/find-issue.ts";
import {
  findPinRoom,
  listPins,
  movePin,
  pinIssue,
  unpinIssue,
} from "../../domain/issues/issue/pin-issue.ts";
import { requireIssueWrite } from "../../domain/issues/issue/require-issue-access.ts";
import { Issue, toIssue } from "../../shapes/issues/issue.ts";
import { empty, json, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo, signedInRepo } from "../guards/repository.ts";
import { PathId } from "../path-id.ts";
import { RepoPath } from "../repos/paths.ts";
import { IssuePath } from "./paths.ts";

const NewIssuePinsAllowed = z
  .object({ issues: z.boolean(), pull_requests: z.boolean() })
  .openapi("NewIssuePinsAllowed");

const PinPath = IssuePath.extend({
  position: PathId.openapi({ description: "The new position, from 1" }),
});

export const pins = endpoints();

pins.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/issues/pinned",
    operationId: "repoListPinnedIssues",
    tags: ["repository"],
    summary: "List a repository's pinned issues",
    middleware: [inRepo("read:issue", { unit: "issues", mode: "read" })] as const,
    request: { params: RepoPath },
    responses: {
      200: json(z.array(Issue), "The pinned issues, in their order"),
      ...refusals(401, 403, 404),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const pinned = await listPins(ctx, repo, false);
    return c.json(
      pinned.map((issue) => toIssue(issue, viewer)),
      200,
    );
  },
);

pins.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/new_pin_allowed",
    operationId: "repoNewPinAllowed",
    tags: ["repository"],
    summary: "Get whether one more issue, and one more pull request, can be pinned",
    middleware: [inRepo("read:repository")] as const,
    request: { params: RepoPath },
    responses: {
      200: json(NewIssuePinsAllowed, "Whether there is room"),
      ...refusals(401, 403, 404),
    },
  }),
  async (c) => {
    const room = await findPinRoom(c.var.ctx, c.var.repo);
    return c.json({ issues: room.issues, pull_requests: room.pulls }, 200);
  },
);

pins.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/issues/{index}/pin",
    operationId: "pinIssue",
    tags: ["issue"],
    summary: "Pin an issue or pull request",
    middleware: [signedInRepo("write:issue", { mode: "admin" })] as const,
    request: { params: IssuePath },
    responses: { 204: empty("Pinned"), ...refusals(400, 401, 403, 404, 409, 423) },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    const issue = await findIssue(ctx, repo, c.req.valid("param").index);
    requireIssueWrite(issue);
    await pinIssue(ctx, issue);
    return c.body(null, 204);
  },
);

pins.openapi(
  createRoute({
    method: "delete",
    path: "/repos/{owner}/{repo}/issues/{index}/pin",
    operationId: "unpinIssue",
    tags: ["issue"],
    summary: "Unpin an issue or pull request",
    middleware: [signedInRepo("write:issue", { mode: "admin" })] as const,
    request: { params: IssuePath },
    responses: { 204: empty("Unpinned"), ...refusals(401, 403, 404, 423) },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    const issue = await findIssue(ctx, repo, c.req.valid("param").index);
    requireIssueWrite(issue);
    await unpinIssue(ctx, issue);
    return c.body(null, 204);
  },
);

pins.openapi(
  createRoute({
    method: "patch",
    path: "/repos/{owner}/{repo}/issues/{index}/pin/{position}",
    operationId: "moveIssuePin",
    tags: ["issue"],
    summary: "Move a pinned issue or pull request to another position",
    middleware: [signedInRepo("write:issue", { mode: "admin" })] as const,
    request: { params: PinPath },
    responses: { 204: empty("Moved"), ...refusals(401, 403, 404, 409, 423) },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    const { index, position } = c.req.valid("param");
    const issue = await findIssue(ctx, repo, index);
    requireIssueWrite(issue);
    await movePin(ctx, issue, position);
    return c.body(null, 204);
  },
);
