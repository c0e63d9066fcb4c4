import { defineSamples } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

const commitPath = async (world: World) => ({ ...(await world.codePath()), sha: "main" });

export const samples = defineSamples({
  repoGetAllCommits: { request: async (world) => ({ path: await world.codePath() }) },
  repoDownloadCommitDiffOrPatch: {
    request: async (world) => ({ path: { ...(await commitPath(world)), diffType: "diff" } }),
  },
  repoGetSingleCommit: { request: async (world) => ({ path: await commitPath(world) }) },
});
