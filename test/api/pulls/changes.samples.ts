import { defineSamples } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  repoGetPullRequestFiles: { request: async (world) => ({ path: await world.pullPath() }) },
  repoGetPullRequestCommits: {
    request: async (world) => ({ path: await world.pullPath() }),
    extraRound: "the accounts of the commits are read once its head is known",
  },
  repoDownloadPullDiffOrPatch: {
    request: async (world) => ({ path: { ...(await world.pullPath()), diffType: "diff" } }),
    variants: async (world) => [{ path: { ...(await world.pullPath()), diffType: "patch" } }],
  },
});
