import { createRoute, z } from "@hono/zod-openapi";

import { createIssue } from "../../domain/issues/create-issue.ts";
import { ASSIGNEES_MAX } from "../../domain/issues/find-assignees.ts";
import { findIssue } from "../../domain/issues/find-issue.ts";
import { warnOfBlankIssue } from "../../domain/issues/warn-of-blank-issue.ts";
import { Issue, toIssue } from "../../shapes/issues/issue.ts";
import { HEADERS, json, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo, signedInRepo } from "../guards/repository.ts";
import { body, optionalFlag, optionalText, requiredText } from "../json-body.ts";
import { RepoPath } from "../repos/paths.ts";
import { dueDate, parseDueDate } from "./due-date.ts";
import { IssuePath } from "./paths.ts";

/** Of a title as it is sent: a longer one than `toIssueTitle` keeps is cut. */
const TITLE_MAX = 4096;
const BODY_MAX = 262_144;
const REF_MAX = 255;
const LABELS_MAX = 100;

const CreateIssue = body({
  title: requiredText(TITLE_MAX),
  body: optionalText(BODY_MAX),
  ref: optionalText(REF_MAX).openapi({ description: "The branch or tag that it is about" }),
  closed: optionalFlag(),
  assignee: optionalText(255).openapi({ description: "One of the assignees", deprecated: true }),
  assignees: z.array(z.string().max(255)).max(ASSIGNEES_MAX).optional(),
  labels: z.array(z.int()).max(LABELS_MAX).optional().openapi({ description: "Ids of labels" }),
  milestone: z.int().optional().openapi({ description: "Id of the milestone" }),
  due_date: dueDate(),
}).openapi("CreateIssueOption");

export const issues = endpoints();

issues.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/issues",
    operationId: "issueCreateIssue",
    tags: ["issue"],
    summary: "Create an issue",
    middleware: [signedInRepo("write:issue", { unit: "issues", mode: "read" })] as const,
    request: {
      params: RepoPath,
      body: { required: true, ...json(CreateIssue, "The issue") },
    },
    responses: {
      201: { ...json(Issue, "The new issue"), headers: HEADERS.blankIssue },
      ...refusals(401, 403, 404, 413, 422, 423),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const wanted = c.req.valid("json");
    const warning = warnOfBlankIssue(ctx, repo);
    const issue = await createIssue(ctx, repo, {
      title: wanted.title,
      body: wanted.body,
      ref: wanted.ref,
      isClosed: wanted.closed,
      assignees: [wanted.assignee ?? "", ...(wanted.assignees ?? [])],
      labelIds: wanted.labels,
      milestoneId: wanted.milestone,
      deadlineAt: wanted.due_date === undefined ? undefined : parseDueDate(wanted.due_date),
    });
    const text = await warning;
    if (text !== undefined) c.header("X-Gitea-Warning", text);
    return c.json(toIssue(issue, viewer), 201);
  },
);

issues.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/issues/{index}",
    operationId: "issueGetIssue",
    tags: ["issue"],
    summary: "Get an issue or pull request",
    middleware: [inRepo("read:issue")] as const,
    request: { params: IssuePath },
    responses: { 200: json(Issue, "The issue"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    return c.json(toIssue(await findIssue(ctx, repo, c.req.valid("param").index), viewer), 200);
  },
);
