import { freshName } from "../../support/make.ts";
import { defineSamples, NOTHING } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

const rulePath = async (world: World) => ({
  ...(await world.repoPath()),
  id: (await world.tagRule()).id,
});

export const samples = defineSamples({
  repoListTagProtection: {
    request: async (world) => {
      await world.tagRule();
      return { path: await world.repoPath() };
    },
  },
  repoCreateTagProtection: {
    request: async (world) => ({
      path: await world.repoPath(),
      json: { name_pattern: freshName("v*"), whitelist_usernames: [(await world.user()).name] },
    }),
    announces: NOTHING,
  },
  repoGetTagProtection: { request: async (world) => ({ path: await rulePath(world) }) },
  repoEditTagProtection: {
    request: async (world) => ({
      path: await rulePath(world),
      json: { name_pattern: freshName("w*") },
    }),
    announces: NOTHING,
  },
  repoDeleteTagProtection: {
    request: async (world) => ({ path: await rulePath(world) }),
    announces: NOTHING,
  },
});
