import { defineSamples } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  repoGetPullRequestFiles: { request: async (world) => ({ path: await world.pullPath() }) },
  repoGetPullRequestCommits: {
    request: async (world) => ({ path: await world.pullPath() }),
  },
  repoDownloadPullDiffOrPatch: {
    request: async (world) => ({ path: { ...(await world.pullPath()), diffType: "diff" } }),
    variants: async (world) => [{ path: { ...(await world.pullPath()), diffType: "patch" } }],
  },
});
