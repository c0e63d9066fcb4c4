import { freshName } from "../../support/make.ts";
import { defineSamples, NOTHING, once } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

const branchPath = async (world: World) => ({
  ...(await world.codePath()),
  branch: "some/branch",
});

export const samples = defineSamples({
  repoListBranches: { request: async (world) => ({ path: await world.codePath() }) },
  repoCreateBranch: {
    request: async (world) => ({
      path: await world.codePath(),
      json: { new_branch_name: freshName("made"), old_ref_name: "some/branch" },
    }),
    announces: once("repository.pushed"),
  },
  repoGetBranch: { request: async (world) => ({ path: await branchPath(world) }) },
  repoRenameBranch: {
    request: async (world) => ({
      path: await branchPath(world),
      json: { name: freshName("made") },
    }),
    announces: once("repository.pushed"),
  },
  repoUpdateBranch: {
    request: async (world) => ({
      path: await branchPath(world),
      json: { new_commit_id: "main" },
    }),
    // The branch already points at this commit.
    announces: NOTHING,
  },
  repoDeleteBranch: {
    request: async (world) => ({ path: await branchPath(world) }),
    announces: once("repository.pushed"),
  },
});
