import { defineSamples, NOTHING, once } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  repoCreatePullReviewRequests: {
    request: async (world) => ({
      path: await world.pullPath(),
      json: { reviewers: [(await world.stranger()).name] },
    }),
    announces: once("pull.review_requested"),
  },
  repoDeletePullReviewRequests: {
    request: async (world) => ({
      path: await world.pullPath(),
      json: { reviewers: [(await world.stranger()).name] },
    }),
    announces: NOTHING,
  },
});
