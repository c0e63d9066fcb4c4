import { defineSamples } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  repoListStargazers: {
    request: async (world) => {
      await world.star();
      return { path: await world.repoPath() };
    },
  },
});
