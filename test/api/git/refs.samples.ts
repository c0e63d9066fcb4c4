import { defineSamples } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  repoListAllGitRefs: { request: async (world) => ({ path: await world.codePath() }) },
  repoListGitRefs: {
    request: async (world) => ({ path: { ...(await world.codePath()), ref: "heads/some" } }),
  },
});
