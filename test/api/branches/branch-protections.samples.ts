import { freshName } from "../../support/make.ts";
import { defineSamples, NOTHING } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

const rulePath = async (world: World) => ({
  ...(await world.repoPath()),
  name: (await world.branchRule()).name,
});

export const samples = defineSamples({
  repoListBranchProtection: {
    request: async (world) => {
      await world.branchRule();
      return { path: await world.repoPath() };
    },
  },
  repoCreateBranchProtection: {
    request: async (world) => ({
      path: await world.repoPath(),
      json: {
        rule_name: freshName("rule"),
        enable_push: true,
        enable_push_whitelist: true,
        push_whitelist_usernames: [(await world.user()).name],
      },
    }),
    announces: NOTHING,
  },
  repoUpdateBranchProtectionPriories: {
    request: async (world) => ({
      path: await world.repoPath(),
      json: { ids: [(await world.branchRule()).id] },
    }),
    announces: NOTHING,
  },
  repoGetBranchProtection: { request: async (world) => ({ path: await rulePath(world) }) },
  repoEditBranchProtection: {
    request: async (world) => ({
      path: await rulePath(world),
      json: { required_approvals: 2, merge_whitelist_usernames: [(await world.user()).name] },
    }),
    announces: NOTHING,
  },
  repoDeleteBranchProtection: {
    request: async (world) => ({ path: await rulePath(world) }),
    announces: NOTHING,
  },
});
