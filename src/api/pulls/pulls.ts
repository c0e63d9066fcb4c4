import { createRoute, z } from "@hono/zod-openapi";

import { ISSUE_LABELS_MAX } from "../../domain/issues/issue/assign-labels.ts";
import { ASSIGNEES_MAX } from "../../domain/issues/issue/find-assignees.ts";
import { createPull } from "../../domain/pulls/pull/create-pull.ts";
import { editPull } from "../../domain/pulls/pull/edit-pull.ts";
import { findPullOfCommit } from "../../domain/pulls/pull/find-pull.ts";
import { ISSUE_SORTS, type IssueSort } from "../../domain/issues/lists/issue-query.ts";
import { REVIEWERS_MAX } from "../../domain/pulls/reviews/find-reviewers.ts";
import { checkMergeability } from "../../domain/pulls/pull/check-mergeability.ts";
import { listPinnedPulls, listPulls } from "../../domain/pulls/pull/list-pulls.ts";
import {
  PullRequest,
  toListedPullRequests,
  toPullRequest,
} from "../../shapes/pulls/pull-request.ts";
import { json, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inPull, signedInPull } from "../guards/pull.ts";
import { inRepo, signedInRepo } from "../guards/repository.ts";
import { dueDate } from "../issues/due-date.ts";
import { IssuePath } from "../issues/paths.ts";
import { isClosedState, toDeadline, toNames } from "../issues/edit-fields.ts";
import { readSentTime } from "../issues/sent-time.ts";
import { body, optionalFlag, optionalText, requiredText } from "../json-body.ts";
import { pageOf, Paging, queryId } from "../paging.ts";
import { queryIds } from "../query-words.ts";
import { RepoPath } from "../repos/paths.ts";

const TITLE_MAX = 4096;
const BODY_MAX = 262_144;
/** Labels that a list can be filtered by. */
const LISTED_LABELS_MAX = 20;
/** Of a branch, with the owner of a fork before it. */
const BRANCH_MAX = 1100;

const names = (description: string) =>
  z.array(z.string().max(255)).max(REVIEWERS_MAX).optional().openapi({ description });

const CreatePullRequest = body({
  head: requiredText(BRANCH_MAX).openapi({
    description: "A branch, `user:branch` of a fork, or `user/name:branch` of one of several",
  }),
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
  reviewers: names("Names or email addresses of users to ask for a review"),
  team_reviewers: names("Names of teams of the owner to ask for a review"),
  allow_maintainer_edit: optionalFlag().openapi({
    description: "Whether those who may write to the base's repository may push to a fork's head",
  }),
}).openapi("CreatePullRequestOption");

const EditPullRequest = body({
  title: optionalText(TITLE_MAX).openapi({ description: "Left as it is if empty" }),
  body: optionalText(BODY_MAX),
  base: optionalText(BRANCH_MAX).openapi({ description: "The branch to merge it into" }),
  state: optionalText(50).openapi({ description: "`open` or `closed`" }),
  assignee: optionalText(255).openapi({ description: "One of the assignees", deprecated: true }),
  assignees: z.array(z.string().max(255)).max(ASSIGNEES_MAX).optional(),
  labels: z
    .array(z.int())
    .max(ISSUE_LABELS_MAX)
    .optional()
    .openapi({ description: "Ids of labels, which replace all labels" }),
  milestone: z
    .int()
    .optional()
    .openapi({ description: "Id of the milestone; 0 leaves it as it is" }),
  due_date: dueDate().openapi({ description: "It is due at the end of that day" }),
  unset_due_date: optionalFlag(),
  allow_maintainer_edit: optionalFlag().openapi({
    description: "Whether those who may write to the base's repository may push to the head",
  }),
  content_version: z.int().optional().openapi({
    description:
      "The version of the body that the edit is based on; 400 if it is not the current one",
  }),
}).openapi("EditPullRequestOption");

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
    const input = c.req.valid("json");
    const pull = await createPull(ctx, repo, {
      head: input.head,
      base: input.base,
      title: input.title,
      body: input.body,
      assignees: [input.assignee ?? "", ...(input.assignees ?? [])],
      labelIds: input.labels,
      milestoneId: input.milestone,
      deadlineAt:
        input.due_date === undefined ? undefined : readSentTime("due_date", input.due_date),
      reviewers: { users: input.reviewers, teams: input.team_reviewers },
      allowMaintainerEdit: input.allow_maintainer_edit,
    });
    return c.json(toPullRequest(pull, viewer), 201);
  },
);

/** Orders of the list that are not among those of issues. */
const SORTS: ReadonlyMap<string, IssueSort> = new Map([
  ...ISSUE_SORTS.map((sort) => [sort, sort] as const),
  // Nothing has a priority.
  ["priority", "newest"],
]);

const text = (max: number, description: string) =>
  z.string().max(max).default("").openapi({ description });

const PullListQuery = Paging.extend({
  state: text(50, "Only pull requests in this state: open, closed or all; the default is open"),
  sort: text(50, `The order: one of ${[...SORTS.keys()].join(", ")}; the default is newest`),
  milestone: queryId("Only pull requests with the milestone of this id"),
  labels: queryIds("Only pull requests with the labels of all these ids", LISTED_LABELS_MAX),
  poster: text(255, "Only pull requests that this user opened"),
  base_branch: text(BRANCH_MAX, "Only pull requests into this branch"),
  head_branch: text(BRANCH_MAX, "Only pull requests of a branch of this name"),
});

pullRequests.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/pulls",
    operationId: "repoListPullRequests",
    tags: ["repository"],
    summary: "List a repository's pull requests",
    middleware: [inRepo("read:repository", { unit: "pulls", mode: "read" })] as const,
    request: { params: RepoPath, query: PullListQuery },
    responses: {
      200: page(z.array(PullRequest), "The pull requests"),
      ...refusals(400, 401, 403, 404, 422),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const query = c.req.valid("query");
    const { state } = query;
    const input = {
      isClosed: state === "closed" ? true : state === "open" || state === "" ? false : undefined,
      poster: query.poster,
      milestoneId: query.milestone,
      labelIds: query.labels,
      base: query.base_branch || undefined,
      head: query.head_branch || undefined,
      sort: SORTS.get(query.sort) ?? "newest",
    };
    const items = await pageOf(c, query, (slice) => listPulls(ctx, repo, input, slice));
    return c.json(toListedPullRequests(items, viewer), 200);
  },
);

pullRequests.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/pulls/pinned",
    operationId: "repoListPinnedPullRequests",
    tags: ["repository"],
    summary: "List a repository's pinned pull requests",
    middleware: [inRepo("read:repository", { unit: "pulls", mode: "read" })] as const,
    request: { params: RepoPath },
    responses: {
      200: json(z.array(PullRequest), "The pinned pull requests, in their order"),
      ...refusals(401, 403, 404),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const pinned = await listPinnedPulls(ctx, repo);
    return c.json(
      pinned.map((pull) => toPullRequest(pull, viewer)),
      200,
    );
  },
);

pullRequests.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/pulls/{index}",
    operationId: "repoGetPullRequest",
    tags: ["repository"],
    summary: "Get a pull request",
    middleware: [inPull("read:repository")] as const,
    request: { params: IssuePath },
    responses: { 200: json(PullRequest, "The pull request"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, viewer } = c.var;
    const pull = await checkMergeability(ctx, c.var.pull);
    return c.json(toPullRequest(pull, viewer), 200);
  },
);

pullRequests.openapi(
  createRoute({
    method: "patch",
    path: "/repos/{owner}/{repo}/pulls/{index}",
    operationId: "repoEditPullRequest",
    tags: ["repository"],
    summary: "Edit a pull request",
    middleware: [signedInPull("write:repository")] as const,
    request: {
      params: IssuePath,
      body: { required: true, ...json(EditPullRequest, "What changes") },
    },
    responses: {
      201: json(PullRequest, "The pull request"),
      ...refusals(400, 401, 403, 404, 409, 412, 413, 422, 423),
    },
  }),
  async (c) => {
    const { ctx, viewer } = c.var;
    const input = c.req.valid("json");
    const pull = await editPull(ctx, c.var.pull, {
      title: input.title,
      body: input.body,
      base: input.base || undefined,
      isClosed: input.state === undefined ? undefined : isClosedState(input.state),
      contentVersion: input.content_version,
      assignees: toNames(input),
      labelIds: input.labels,
      milestoneId: input.milestone || undefined,
      deadlineAt: toDeadline(input),
      allowMaintainerEdit: input.allow_maintainer_edit,
    });
    return c.json(toPullRequest(pull, viewer), 201);
  },
);

pullRequests.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/commits/{sha}/pull",
    operationId: "repoGetCommitPullRequest",
    tags: ["repository"],
    summary: "Get the pull request that a commit is the merge of",
    middleware: [inRepo("read:repository", { unit: "pulls", mode: "read" })] as const,
    request: {
      params: RepoPath.extend({
        sha: z.string().max(64).openapi({ description: "The full id of the commit" }),
      }),
    },
    responses: { 200: json(PullRequest, "The pull request"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const { sha } = c.req.valid("param");
    const pull = await findPullOfCommit(ctx, repo, sha.toLowerCase());
    return c.json(toPullRequest(pull, viewer), 200);
  },
);
