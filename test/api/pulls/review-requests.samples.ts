import { defineSamples, NOTHING, once } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  repoCreatePullReviewRequests: {
    request: async (world) => ({
      path: await world.pullPath(),
      json: { reviewers: [(await world.stranger()).name] },
    }),
    announces: once("pull.review_requested"),
    extraRound: "whose review counts is asked of the rules of the base, once both are known",
  },
  repoDeletePullReviewRequests: {
    request: async (world) => ({
      path: await world.pullPath(),
      json: { reviewers: [(await world.stranger()).name] },
    }),
    announces: NOTHING,
  },
});
