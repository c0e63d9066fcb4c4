import { defineSamples } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  repoCompareDiff: {
    request: async (world) => ({
      path: { ...(await world.codePath()), basehead: "main...some/branch" },
    }),
  },
});
