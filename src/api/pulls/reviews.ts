import { createRoute, z } from "@hono/zod-openapi";

import { findPull } from "../../domain/pulls/pull/find-pull.ts";
import { findPullWithRules } from "../../domain/pulls/code-review/find-with-rules.ts";
import { deleteReview } from "../../domain/pulls/reviews/delete-review.ts";
import {
  dismissReview,
  requireDismissal,
  undismissReview,
} from "../../domain/pulls/reviews/dismiss-review.ts";
import { listReviewComments } from "../../domain/pulls/reviews/find-code-comments.ts";
import { findReview, listReviews } from "../../domain/pulls/reviews/find-review.ts";
import { COMMENTS_MAX } from "../../domain/pulls/code-review/place-comments.ts";
import {
  createReview,
  type GivenState,
  submitReview,
} from "../../domain/pulls/code-review/submit-review.ts";
import { invalid } from "../../lib/failure.ts";
import { PullReviewComment, toPullReviewComment } from "../../shapes/pulls/pull-review-comment.ts";
import { PullReview, toPullReview } from "../../shapes/pulls/pull-review.ts";
import { empty, json, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { signedInPull } from "../guards/pull.ts";
import { inRepo, signedInRepo } from "../guards/repository.ts";
import { answerPage } from "../handlers.ts";
import { IssuePath } from "../issues/paths.ts";
import { body, optionalFlag, optionalText } from "../json-body.ts";
import { pageOf, Paging, readPageOrAll } from "../paging.ts";
import { PathId } from "../path-id.ts";

const BODY_MAX = 262_144;
const PATH_MAX = 4096;
const EVENT_MAX = 64;
const LINE_MAX = 2_147_483_647;

const line = (description: string) =>
  z.int().min(0).max(LINE_MAX).optional().openapi({ description });

const CreatePullReviewComment = body({
  path: optionalText(PATH_MAX),
  body: optionalText(BODY_MAX),
  new_position: line("The line of the head; 0 for none"),
  old_position: line("The line of the old side, which precedes; 0 for none"),
  start_line: line("The first of several lines, of which the position is the last"),
  in_reply_to: z.int().min(0).optional().openapi({
    description: "The comment that it answers, whose place it takes",
  }),
}).openapi("CreatePullReviewComment");

const event = optionalText(EVENT_MAX).openapi({
  description: "`APPROVED`, `REQUEST_CHANGES` or `COMMENT`; anything else is `PENDING`",
});

const CreatePullReviewOptions = body({
  event,
  body: optionalText(BODY_MAX),
  commit_id: z
    .string()
    .regex(/^(?:[0-9a-f]{40})?$/i, "must be the id of a commit")
    .optional()
    .openapi({ description: "The commit that was reviewed; the head without one" }),
  comments: z.array(CreatePullReviewComment).max(COMMENTS_MAX).optional(),
  pending_review: optionalFlag().openapi({ description: "The same as the event `PENDING`" }),
}).openapi("CreatePullReviewOptions");

const SubmitPullReviewOptions = body({ event, body: optionalText(BODY_MAX) }).openapi(
  "SubmitPullReviewOptions",
);

const DismissPullReviewOptions = body({
  message: optionalText(BODY_MAX),
  priors: optionalFlag().openapi({ description: "Dismiss earlier reviews of the same user too" }),
}).openapi("DismissPullReviewOptions");

const ReviewPath = IssuePath.extend({ id: PathId.openapi({ description: "Id of the review" }) });

const READS = inRepo("read:repository", { unit: "pulls", mode: "read" });
const WRITES = signedInRepo("write:repository", { unit: "pulls", mode: "read" });

/** The state that an event means. As in Gitea, an unknown one begins a pending review. */
function toState(name: string): GivenState {
  if (name === "APPROVED") return "approved";
  if (name === "REQUEST_CHANGES") return "request_changes";
  return name === "COMMENT" ? "comment" : "pending";
}

export const pullReviews = endpoints();

pullReviews.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/pulls/{index}/reviews",
    operationId: "repoListPullReviews",
    tags: ["repository"],
    summary: "List the reviews of a pull request",
    middleware: [READS] as const,
    request: { params: IssuePath, query: Paging },
    responses: {
      200: page(z.array(PullReview), "The reviews and the requests for reviews, oldest first"),
      ...refusals(401, 404),
    },
  }),
  (c) =>
    answerPage(
      c,
      ({ ctx, repo }, slice) => listReviews(ctx, repo, c.req.valid("param").index, slice),
      toPullReview,
    ),
);

pullReviews.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/pulls/{index}/reviews",
    operationId: "repoCreatePullReview",
    tags: ["repository"],
    summary: "Review a pull request",
    middleware: [signedInPull("write:repository", { showsRules: true })] as const,
    request: {
      params: IssuePath,
      body: { required: true, ...json(CreatePullReviewOptions, "The review") },
    },
    responses: {
      200: json(PullReview, "The review; the caller's pending one, if there was one"),
      ...refusals(401, 403, 404, 409, 413, 422, 423),
    },
  }),
  async (c) => {
    const { ctx, pull, viewer } = c.var;
    const input = c.req.valid("json");
    const name = input.event ?? "";
    const state = input.pending_review === true ? "pending" : toState(name);
    const { body: text = "", comments = [] } = input;
    const review = await createReview(ctx, pull, {
      event: name,
      state,
      body: text,
      commitOid: input.commit_id?.toLowerCase(),
      comments: comments.map((each) => ({
        path: each.path ?? "",
        body: each.body ?? "",
        newLine: each.new_position ?? 0,
        oldLine: each.old_position ?? 0,
        startLine: each.start_line ?? 0,
        repliedId: each.in_reply_to ?? 0,
      })),
    });
    return c.json(toPullReview(review, viewer), 200);
  },
);

pullReviews.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/pulls/{index}/reviews/{id}",
    operationId: "repoGetPullReview",
    tags: ["repository"],
    summary: "Get a review of a pull request",
    middleware: [READS] as const,
    request: { params: ReviewPath },
    responses: { 200: json(PullReview, "The review"), ...refusals(401, 404) },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const { index, id } = c.req.valid("param");
    return c.json(toPullReview(await findReview(ctx, repo, index, id), viewer), 200);
  },
);

pullReviews.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/pulls/{index}/reviews/{id}",
    operationId: "repoSubmitPullReview",
    tags: ["repository"],
    summary: "Submit a pending review of a pull request",
    middleware: [WRITES] as const,
    request: {
      params: ReviewPath,
      body: { required: true, ...json(SubmitPullReviewOptions, "The review") },
    },
    responses: { 200: json(PullReview, "The review"), ...refusals(401, 403, 404, 413, 422, 423) },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const { index, id } = c.req.valid("param");
    const input = c.req.valid("json");
    const [pull, review] = await Promise.all([
      findPullWithRules(ctx, repo, index),
      findReview(ctx, repo, index, id),
    ]);
    const name = input.event ?? "";
    const state = toState(name);
    if (review.row.state !== "pending") throw invalid("only a pending review can be submitted");
    if (state === "pending") throw invalid("review stay pending");
    // Without a text of its own the submission keeps that of the pending review.
    const text = input.body ?? review.row.body;
    const submission = { event: name, state, body: text };
    const submitted = await submitReview(ctx, pull, review, submission);
    return c.json(toPullReview(submitted, viewer), 200);
  },
);

pullReviews.openapi(
  createRoute({
    method: "delete",
    path: "/repos/{owner}/{repo}/pulls/{index}/reviews/{id}",
    operationId: "repoDeletePullReview",
    tags: ["repository"],
    summary: "Delete a review of a pull request",
    middleware: [WRITES] as const,
    request: { params: ReviewPath },
    responses: {
      204: empty("The review is deleted, with its comments"),
      ...refusals(401, 403, 404, 422, 423),
    },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    const { index, id } = c.req.valid("param");
    const [pull, review] = await Promise.all([
      findPull(ctx, repo, index),
      findReview(ctx, repo, index, id),
    ]);
    await deleteReview(ctx, pull, review);
    return c.body(null, 204);
  },
);

pullReviews.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/pulls/{index}/reviews/{id}/comments",
    operationId: "repoGetPullReviewComments",
    tags: ["repository"],
    summary: "List the comments on code of a review",
    middleware: [READS] as const,
    request: { params: ReviewPath, query: Paging },
    responses: {
      200: page(z.array(PullReviewComment), "The comments, oldest first; all without a page"),
      ...refusals(401, 404),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const { index, id } = c.req.valid("param");
    const list = await pageOf(
      c,
      c.req.valid("query"),
      (slice) => listReviewComments(ctx, repo, index, id, slice),
      readPageOrAll,
    );
    return c.json(
      list.map((each) => toPullReviewComment(each, viewer)),
      200,
    );
  },
);

pullReviews.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/pulls/{index}/reviews/{id}/dismissals",
    operationId: "repoDismissPullReview",
    tags: ["repository"],
    summary: "Dismiss a review of a pull request",
    middleware: [WRITES] as const,
    request: {
      params: ReviewPath,
      body: { required: true, ...json(DismissPullReviewOptions, "The reason") },
    },
    responses: { 200: json(PullReview, "The review"), ...refusals(401, 403, 404, 413, 422, 423) },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const { index, id } = c.req.valid("param");
    const { message = "", priors = false } = c.req.valid("json");
    requireDismissal(repo);
    const [pull, review] = await Promise.all([
      findPull(ctx, repo, index),
      findReview(ctx, repo, index, id),
    ]);
    const dismissal = { message, includesPriors: priors };
    return c.json(toPullReview(await dismissReview(ctx, pull, review, dismissal), viewer), 200);
  },
);

pullReviews.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/pulls/{index}/reviews/{id}/undismissals",
    operationId: "repoUnDismissPullReview",
    tags: ["repository"],
    summary: "Cancel the dismissal of a review of a pull request",
    middleware: [WRITES] as const,
    request: { params: ReviewPath },
    responses: { 200: json(PullReview, "The review"), ...refusals(401, 403, 404, 423) },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const { index, id } = c.req.valid("param");
    requireDismissal(repo);
    const [pull, review] = await Promise.all([
      findPull(ctx, repo, index),
      findReview(ctx, repo, index, id),
    ]);
    return c.json(toPullReview(await undismissReview(ctx, pull, review), viewer), 200);
  },
);
