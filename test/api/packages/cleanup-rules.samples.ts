import { defineSamples, NOTHING } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

const rulePath = async (world: World) => ({
  owner: (await world.user()).name,
  id: (await world.cleanupRule()).id,
});

export const samples = defineSamples({
  listPackageCleanupRules: {
    request: async (world) => {
      await world.cleanupRule();
      return { path: { owner: (await world.user()).name } };
    },
  },
  createPackageCleanupRule: {
    request: async (world) => ({
      path: { owner: (await world.user()).name },
      json: { type: "npm", keep_count: 5, remove_days: 30 },
    }),
    announces: NOTHING,
  },
  getPackageCleanupRule: {
    request: async (world) => ({ path: await rulePath(world) }),
  },
  editPackageCleanupRule: {
    request: async (world) => ({
      path: await rulePath(world),
      json: { keep_pattern: "v.+", match_full_name: true },
    }),
    announces: NOTHING,
  },
  deletePackageCleanupRule: {
    request: async (world) => ({ path: await rulePath(world) }),
    announces: NOTHING,
  },
  previewPackageCleanupRule: {
    request: async (world) => {
      await world.package();
      return { path: await rulePath(world) };
    },
    extraRound: "the versions are chosen by patterns before they are read",
    extraRounds: 3,
  },
});
