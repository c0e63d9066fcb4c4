import { createRoute, z } from "@hono/zod-openapi";

import { findPull } from "../../domain/pulls/pull/find-pull.ts";
import { findPullWithRules } from "../../domain/pulls/code-review/find-with-rules.ts";
import { posterOfPull } from "../../domain/pulls/reviews/find-review.ts";
import { loadNames, REVIEWERS_MAX } from "../../domain/pulls/reviews/find-reviewers.ts";
import { removeRequests, requestReviews } from "../../domain/pulls/reviews/request-reviews.ts";
import { PullReview, toPullReview } from "../../shapes/pulls/pull-review.ts";
import { empty, json, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { signedInRepo } from "../guards/repository.ts";
import { IssuePath } from "../issues/paths.ts";
import { body } from "../json-body.ts";

/** Maximum characters of a name or an email address. */
const NAME_MAX = 255;

const namesField = (description: string) =>
  z.array(z.string().max(NAME_MAX)).max(REVIEWERS_MAX).optional().openapi({ description });

const PullReviewRequestOptions = body({
  reviewers: namesField("Users, by name or by an email address that they do not hide"),
  team_reviewers: namesField("Teams of the organization that owns the repository, by name"),
}).openapi("PullReviewRequestOptions");

const toNames = ({ reviewers, team_reviewers }: z.infer<typeof PullReviewRequestOptions>) => ({
  users: reviewers,
  teams: team_reviewers,
});

export const reviewRequests = endpoints();

reviewRequests.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/pulls/{index}/requested_reviewers",
    operationId: "repoCreatePullReviewRequests",
    tags: ["repository"],
    summary: "Request reviews of a pull request",
    middleware: [signedInRepo("write:repository", { unit: "pulls", mode: "read" })] as const,
    request: {
      params: IssuePath,
      body: { required: true, ...json(PullReviewRequestOptions, "The reviewers") },
    },
    responses: {
      201: json(z.array(PullReview), "The new requests; none for those who were asked before"),
      ...refusals(401, 403, 404, 413, 422, 423),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const names = toNames(c.req.valid("json"));
    const { index } = c.req.valid("param");
    const [pull, loaded] = await Promise.all([
      findPullWithRules(ctx, repo, index),
      loadNames(ctx, repo, posterOfPull(repo, index), names),
    ]);
    const requests = await requestReviews(ctx, pull, names, loaded);
    return c.json(
      requests.map((each) => toPullReview(each, viewer)),
      201,
    );
  },
);

reviewRequests.openapi(
  createRoute({
    method: "delete",
    path: "/repos/{owner}/{repo}/pulls/{index}/requested_reviewers",
    operationId: "repoDeletePullReviewRequests",
    tags: ["repository"],
    summary: "Cancel requests for reviews of a pull request",
    middleware: [signedInRepo("write:repository", { unit: "pulls", mode: "read" })] as const,
    request: {
      params: IssuePath,
      body: { required: true, ...json(PullReviewRequestOptions, "The reviewers") },
    },
    responses: {
      204: empty("They are not asked, or no longer"),
      ...refusals(401, 403, 404, 413, 422, 423),
    },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    const names = toNames(c.req.valid("json"));
    const { index } = c.req.valid("param");
    const [pull, loaded] = await Promise.all([
      findPull(ctx, repo, index),
      loadNames(ctx, repo, posterOfPull(repo, index), names),
    ]);
    await removeRequests(ctx, pull, names, loaded);
    return c.body(null, 204);
  },
);
