import { createRoute } from "@hono/zod-openapi";

import { findIssue } from "../../domain/issues/issue/find-issue.ts";
import { lockIssue } from "../../domain/issues/issue/lock-issue.ts";
import { requireIssueWrite } from "../../domain/issues/issue/require-issue-access.ts";
import { empty, json, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { signedInRepo } from "../guards/repository.ts";
import { body, optionalText } from "../json-body.ts";
import { IssuePath } from "./paths.ts";

const REASON_MAX = 255;

const LockIssue = body({
  lock_reason: optionalText(REASON_MAX).openapi({
    description: "Shown in the timeline",
    example: "Off-topic",
  }),
}).openapi("LockIssueOption");

export const locks = endpoints();

locks.openapi(
  createRoute({
    method: "put",
    path: "/repos/{owner}/{repo}/issues/{index}/lock",
    operationId: "issueLockIssue",
    tags: ["issue"],
    summary: "Lock the conversation of an issue or pull request",
    middleware: [signedInRepo("write:issue", { mode: "admin" })] as const,
    request: { params: IssuePath, body: { required: true, ...json(LockIssue, "The reason") } },
    responses: { 204: empty("Locked"), ...refusals(401, 403, 404, 413, 422, 423) },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    const issue = await findIssue(ctx, repo, c.req.valid("param").index);
    requireIssueWrite(issue);
    await lockIssue(ctx, issue, true, c.req.valid("json").lock_reason);
    return c.body(null, 204);
  },
);

locks.openapi(
  createRoute({
    method: "delete",
    path: "/repos/{owner}/{repo}/issues/{index}/lock",
    operationId: "issueUnlockIssue",
    tags: ["issue"],
    summary: "Unlock the conversation of an issue or pull request",
    middleware: [signedInRepo("write:issue", { mode: "admin" })] as const,
    request: { params: IssuePath },
    responses: { 204: empty("Unlocked"), ...refusals(401, 403, 404, 423) },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    const issue = await findIssue(ctx, repo, c.req.valid("param").index);
    requireIssueWrite(issue);
    await lockIssue(ctx, issue, false);
    return c.body(null, 204);
  },
);
