import { defineSamples } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  repoCompareDiff: {
    request: async (world) => ({
      path: { ...(await world.codePath()), basehead: "main...some/branch" },
    }),
    // A comparison finds another fork of the repository, by its owner or by its name.
    variants: async (world) => {
      const path = await world.codePath();
      return ["main...somebody:main", "main...somebody/else:main"].map((basehead) => ({
        path: { ...path, basehead },
      }));
    },
  },
});
