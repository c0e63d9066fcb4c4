import { defineSamples } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  repoGetPullRequestByBaseHead: {
    request: async (world) => {
      await world.pull();
      return { path: { ...(await world.repoPath()), base: "main", head: "topic" } };
    },
  },
});
