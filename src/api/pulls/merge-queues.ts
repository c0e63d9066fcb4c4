import { createRoute, z } from "@hono/zod-openapi";

import { MERGE_STYLES } from "../../db/schema/index.ts";
import { dequeuePull } from "../../domain/pulls/merge/queue/dequeue-pull.ts";
import { enqueuePull } from "../../domain/pulls/merge/queue/enqueue-pull.ts";
import {
  findQueueEntry,
  listQueues,
  readQueue,
} from "../../domain/pulls/merge/queue/list-queues.ts";
import {
  MergeQueue,
  MergeQueueEntry,
  MergeQueueWithEntries,
  toMergeQueue,
  toMergeQueueEntry,
} from "../../shapes/pulls/merge-queue.ts";
import { empty, json, page, refusals } from "../answers.ts";
import { BranchPath } from "../branches/paths.ts";
import { endpoints } from "../endpoints.ts";
import { inPull, signedInPull } from "../guards/pull.ts";
import { inRepo } from "../guards/repository.ts";
import { answerPage, done } from "../handlers.ts";
import { IssuePath } from "../issues/paths.ts";
import { body, optionalFlag } from "../json-body.ts";
import { Paging, readPage, setPageHeaders } from "../paging.ts";
import { RepoPath } from "../repos/paths.ts";
import { optionalHead, optionalMessage, optionalTitle } from "./merge-fields.ts";

const EnqueuePullRequest = body({
  Do: z.enum(MERGE_STYLES).optional().openapi({
    description: "The style; by default the queue's, or else the repository's",
  }),
  MergeTitleField: optionalTitle(),
  MergeMessageField: optionalMessage(),
  head_commit_id: optionalHead(),
  delete_branch_after_merge: optionalFlag().openapi({
    description: "Whether the branch of the head is deleted; by default as the repository says",
  }),
}).openapi("EnqueuePullRequestOption");

const toRead = (options = {}) =>
  inRepo("read:repository", { unit: "pulls", mode: "read" }, options);

/** Merge queues, an extension of Gitea's API. */
export const pullMergeQueues = endpoints();

pullMergeQueues.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/merge-queues",
    operationId: "repoListMergeQueues",
    tags: ["repository"],
    summary: "List a repository's merge queues that are not empty",
    middleware: [toRead()] as const,
    request: { params: RepoPath, query: Paging },
    responses: {
      200: page(z.array(MergeQueue), "The merge queues, by branch"),
      ...refusals(401, 403, 404),
    },
  }),
  (c) => answerPage(c, ({ ctx, repo }, slice) => listQueues(ctx, repo, slice), toMergeQueue),
);

pullMergeQueues.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/merge-queues/{branch*}",
    operationId: "repoGetMergeQueue",
    tags: ["repository"],
    summary: "Get the merge queue of a branch with its pull requests",
    description: "The page and the total are those of the pull requests.",
    middleware: [toRead({ showsRules: true })] as const,
    request: { params: BranchPath, query: Paging },
    responses: {
      200: page(MergeQueueWithEntries, "The merge queue"),
      ...refusals(401, 403, 404),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const slice = readPage(ctx.config, c.req.valid("query"));
    const { branch } = c.req.valid("param");
    const { context, entries } = await readQueue(ctx, repo, branch, slice);
    setPageHeaders(c, slice, entries.total);
    const shown = entries.items.map((each) => toMergeQueueEntry(each, viewer));
    return c.json({ ...toMergeQueue(context), entries: shown }, 200);
  },
);

const path = "/repos/{owner}/{repo}/pulls/{index}/queue";

pullMergeQueues.openapi(
  createRoute({
    method: "get",
    path,
    operationId: "repoGetPullRequestQueueEntry",
    tags: ["repository"],
    summary: "Get the place of a pull request in its merge queue",
    middleware: [inPull("read:repository")] as const,
    request: { params: IssuePath },
    responses: { 200: json(MergeQueueEntry, "Its place"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, pull, viewer } = c.var;
    return c.json(toMergeQueueEntry(await findQueueEntry(ctx, pull), viewer), 200);
  },
);

pullMergeQueues.openapi(
  createRoute({
    method: "post",
    path,
    operationId: "repoEnqueuePullRequest",
    tags: ["repository"],
    summary: "Put a pull request into the merge queue of its base",
    middleware: [signedInPull("write:repository")] as const,
    request: {
      params: IssuePath,
      body: { required: false, ...json(EnqueuePullRequest, "How to merge it") },
    },
    responses: {
      201: json(MergeQueueEntry, "Its place"),
      ...refusals(401, 403, 404, 405, 409, 413, 422, 423),
    },
  }),
  async (c) => {
    const { ctx, repo, pull, user, viewer } = c.var;
    const input = c.req.valid("json");
    await enqueuePull(ctx, pull, user, {
      style: input.Do,
      title: input.MergeTitleField ?? "",
      message: input.MergeMessageField ?? "",
      headOid: input.head_commit_id ?? "",
      isBranchDeleted:
        input.delete_branch_after_merge ?? repo.row.pullSettings.defaultDeleteBranchAfterMerge,
    });
    return c.json(toMergeQueueEntry(await findQueueEntry(ctx, pull), viewer), 201);
  },
);

pullMergeQueues.openapi(
  createRoute({
    method: "delete",
    path,
    operationId: "repoDequeuePullRequest",
    tags: ["repository"],
    summary: "Take a pull request out of its merge queue",
    middleware: [signedInPull("write:repository")] as const,
    request: { params: IssuePath },
    responses: {
      204: empty("It is in the queue no more"),
      ...refusals(401, 403, 404, 409, 423),
    },
  }),
  (c) => done(c, ({ ctx, pull, user }) => dequeuePull(ctx, pull, user)),
);
