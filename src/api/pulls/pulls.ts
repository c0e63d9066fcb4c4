import { createRoute, z } from "@hono/zod-openapi";

import { ISSUE_LABELS_MAX } from "../../domain/issues/assign-labels.ts";
import { ASSIGNEES_MAX } from "../../domain/issues/find-assignees.ts";
import { createPull } from "../../domain/pulls/create-pull.ts";
import { findPull } from "../../domain/pulls/find-pull.ts";
import { PullRequest, toPullRequest } from "../../shapes/pulls/pull-request.ts";
import { json, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo, signedInRepo } from "../guards/repository.ts";
import { dueDate } from "../issues/due-date.ts";
import { IssuePath } from "../issues/paths.ts";
import { readSentTime } from "../issues/sent-time.ts";
import { body, optionalText, requiredText } from "../json-body.ts";
import { RepoPath } from "../repos/paths.ts";

const TITLE_MAX = 4096;
const BODY_MAX = 262_144;
/** Of a branch, with the owner of a fork before it. */
const BRANCH_MAX = 1100;

const CreatePullRequest = body({
  head: requiredText(BRANCH_MAX).openapi({ description: "A branch, or `user:branch` of a fork" }),
  base: requiredText(BRANCH_MAX),
  title: requiredText(TITLE_MAX),
  body: optionalText(BODY_MAX),
  assignee: optionalText(255).openapi({ description: "One of the assignees", deprecated: true }),
  assignees: z.array(z.string().max(255)).max(ASSIGNEES_MAX).optional(),
  labels: z
    .array(z.int())
    .max(ISSUE_LABELS_MAX)
    .optional()
    .openapi({ description: "Ids of labels" }),
  milestone: z.int().optional().openapi({ description: "Id of the milestone" }),
  due_date: dueDate(),
}).openapi("CreatePullRequestOption");

export const pullRequests = endpoints();

pullRequests.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/pulls",
    operationId: "repoCreatePullRequest",
    tags: ["repository"],
    summary: "Create a pull request",
    middleware: [signedInRepo("write:repository", { unit: "pulls", mode: "read" })] as const,
    request: {
      params: RepoPath,
      body: { required: true, ...json(CreatePullRequest, "The pull request") },
    },
    responses: {
      201: json(PullRequest, "The new pull request"),
      ...refusals(401, 403, 404, 409, 413, 422, 423),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const wanted = c.req.valid("json");
    const pull = await createPull(ctx, repo, {
      head: wanted.head,
      base: wanted.base,
      title: wanted.title,
      body: wanted.body,
      assignees: [wanted.assignee ?? "", ...(wanted.assignees ?? [])],
      labelIds: wanted.labels,
      milestoneId: wanted.milestone,
      deadlineAt:
        wanted.due_date === undefined ? undefined : readSentTime("due_date", wanted.due_date),
    });
    return c.json(toPullRequest(pull, viewer), 201);
  },
);

pullRequests.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/pulls/{index}",
    operationId: "repoGetPullRequest",
    tags: ["repository"],
    summary: "Get a pull request",
    middleware: [inRepo("read:repository", { unit: "pulls", mode: "read" })] as const,
    request: { params: IssuePath },
    responses: { 200: json(PullRequest, "The pull request"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const pull = await findPull(ctx, repo, c.req.valid("param").index);
    return c.json(toPullRequest(pull, viewer), 200);
  },
);
