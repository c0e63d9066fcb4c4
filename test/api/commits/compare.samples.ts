import { defineSamples } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  repoCompareDiff: {
    request: async (world) => ({
      path: { ...(await world.codePath()), basehead: "main...some/branch" },
    }),
    // The head may be in another fork, named by its owner, or by owner and name.
    variants: async (world) => {
      const path = await world.codePath();
      return ["main...somebody:main", "main...somebody/else:main"].map((basehead) => ({
        path: { ...path, basehead },
      }));
    },
  },
});
