import { defineSamples, eachTime, once } from "../../support/samples/sample.ts";
import { makeReview } from "../../support/pulls.ts";
import type { World } from "../../support/samples/world.ts";

/** The path of a review by a user who administers nothing, and of one that only its author sees. */
const reviewPath = async (world: World, state: "approved" | "pending" = "approved") => {
  const reviewer = state === "pending" ? await world.user() : await world.stranger();
  const review = await makeReview(await world.pull(), { state, reviewerId: reviewer.id });
  return { ...(await world.pullPath()), id: review.id };
};

export const samples = defineSamples({
  repoListPullReviews: {
    request: async (world) => {
      await reviewPath(world);
      return { path: await world.pullPath() };
    },
  },
  repoCreatePullReview: {
    request: async (world) => ({
      path: await world.pullPath(),
      json: {
        event: "COMMENT",
        body: "Looks good",
        comments: [{ path: "topic", body: "A line", new_position: 1 }],
      },
    }),
    announces: eachTime("review.submitted"),
  },
  repoGetPullReview: { request: async (world) => ({ path: await reviewPath(world) }) },
  repoSubmitPullReview: {
    request: async (world) => ({
      path: await reviewPath(world, "pending"),
      json: { event: "COMMENT", body: "Looks good" },
    }),
    announces: once("review.submitted"),
  },
  repoDeletePullReview: {
    request: async (world) => {
      const review = await makeReview(await world.pull(), { state: "comment", body: "Mine" });
      return { path: { ...(await world.pullPath()), id: review.id } };
    },
    announces: once("review.deleted"),
  },
  repoGetPullReviewComments: { request: async (world) => ({ path: await reviewPath(world) }) },
  repoDismissPullReview: {
    request: async (world) => ({ path: await reviewPath(world), json: { message: "Outdated" } }),
    announces: once("review.dismissed"),
  },
  repoUnDismissPullReview: {
    request: async (world) => {
      const fields = { isDismissed: true, reviewerId: (await world.stranger()).id };
      const review = await makeReview(await world.pull(), fields);
      return { path: { ...(await world.pullPath()), id: review.id } };
    },
    announces: once("review.undismissed"),
  },
});
