import { createRoute, z } from "@hono/zod-openapi";

import { ISSUE_LABELS_MAX } from "../../domain/issues/issue/assign-labels.ts";
import { createIssue } from "../../domain/issues/issue/create-issue.ts";
import { deleteIssue } from "../../domain/issues/issue/delete-issue.ts";
import { toIssueDeletion } from "../../domain/exchange/webhooks/dispatch/deletion-payload.ts";
import { editIssue } from "../../domain/issues/issue/edit-issue.ts";
import { ASSIGNEES_MAX } from "../../domain/issues/issue/find-assignees.ts";
import { findIssue } from "../../domain/issues/issue/find-issue.ts";
import { requireIssueWrite } from "../../domain/issues/issue/require-issue-access.ts";
import { warnOfBlankIssue } from "../../domain/issues/issue/warn-of-blank-issue.ts";
import { Issue, toIssue } from "../../shapes/issues/issue.ts";
import { empty, HEADERS, json, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo, signedInRepo } from "../guards/repository.ts";
import { body, optionalFlag, optionalText, requiredText } from "../json-body.ts";
import { RepoPath } from "../repos/paths.ts";
import { dueDate } from "./due-date.ts";
import { isClosedState, toDeadline, toNames } from "./edit-fields.ts";
import { IssuePath } from "./paths.ts";
import { readSentTime } from "./sent-time.ts";

/** Maximum characters of a title in a request: `toIssueTitle` cuts it. */
const TITLE_MAX = 4096;
const BODY_MAX = 262_144;
const REF_MAX = 255;
const ESTIMATE_MAX = 2 ** 31 - 1;

const assignees = () => z.array(z.string().max(255)).max(ASSIGNEES_MAX).optional();
const assignee = () =>
  optionalText(255).openapi({ description: "One of the assignees", deprecated: true });

const CreateIssue = body({
  title: requiredText(TITLE_MAX),
  body: optionalText(BODY_MAX),
  ref: optionalText(REF_MAX).openapi({ description: "The branch or tag that it is about" }),
  closed: optionalFlag(),
  assignee: assignee(),
  assignees: assignees(),
  labels: z
    .array(z.int())
    .max(ISSUE_LABELS_MAX)
    .optional()
    .openapi({ description: "Ids of labels" }),
  milestone: z.int().optional().openapi({ description: "Id of the milestone" }),
  due_date: dueDate(),
}).openapi("CreateIssueOption");

const EditIssue = body({
  title: optionalText(TITLE_MAX).openapi({ description: "Left as it is if empty" }),
  body: optionalText(BODY_MAX),
  ref: optionalText(REF_MAX).openapi({ description: "The branch or tag that it is about" }),
  state: optionalText(50).openapi({ description: "`open` or `closed`" }),
  assignee: assignee(),
  assignees: assignees(),
  milestone: z.int().optional().openapi({ description: "Id of the milestone; 0 for none" }),
  due_date: dueDate().openapi({ description: "It is due at the end of that day" }),
  unset_due_date: optionalFlag(),
  time_estimate: z.int().min(0).max(ESTIMATE_MAX).optional().openapi({
    format: "int64",
    description: "In seconds; 0 for none",
  }),
  content_version: z.int().optional().openapi({
    description:
      "The version of the body that the edit is based on; 400 if it is not the current one",
  }),
}).openapi("EditIssueOption");

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
    const input = c.req.valid("json");
    const warning = warnOfBlankIssue(ctx, repo);
    const issue = await createIssue(ctx, repo, {
      title: input.title,
      body: input.body,
      ref: input.ref,
      isClosed: input.closed,
      assignees: [input.assignee ?? "", ...(input.assignees ?? [])],
      labelIds: input.labels,
      milestoneId: input.milestone,
      deadlineAt:
        input.due_date === undefined ? undefined : readSentTime("due_date", input.due_date),
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

issues.openapi(
  createRoute({
    method: "patch",
    path: "/repos/{owner}/{repo}/issues/{index}",
    operationId: "issueEditIssue",
    tags: ["issue"],
    summary: "Edit an issue or pull request",
    middleware: [signedInRepo("write:issue")] as const,
    request: { params: IssuePath, body: { required: true, ...json(EditIssue, "What changes") } },
    responses: {
      201: json(Issue, "The issue"),
      ...refusals(400, 401, 403, 404, 412, 413, 422, 423),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const input = c.req.valid("json");
    const edited = await editIssue(ctx, repo, c.req.valid("param").index, {
      title: input.title,
      body: input.body,
      ref: input.ref,
      isClosed: input.state === undefined ? undefined : isClosedState(input.state),
      contentVersion: input.content_version,
      assignees: toNames(input),
      milestoneId: input.milestone,
      deadlineAt: toDeadline(input),
      estimateSeconds: input.time_estimate,
    });
    return c.json(toIssue(edited, viewer), 201);
  },
);

issues.openapi(
  createRoute({
    method: "delete",
    path: "/repos/{owner}/{repo}/issues/{index}",
    operationId: "issueDelete",
    tags: ["issue"],
    summary: "Delete an issue or pull request",
    middleware: [signedInRepo("write:issue", { mode: "admin" })] as const,
    request: { params: IssuePath },
    responses: { 204: empty("Deleted"), ...refusals(401, 403, 404, 423) },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    const issue = await findIssue(ctx, repo, c.req.valid("param").index);
    requireIssueWrite(issue);
    await deleteIssue(ctx, issue, await toIssueDeletion(ctx, issue));
    return c.body(null, 204);
  },
);
