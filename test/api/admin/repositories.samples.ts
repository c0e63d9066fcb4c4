import { freshName } from "../../support/make.ts";
import { defineSamples, NOTHING, once } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  adminCreateRepo: {
    request: async (world) => ({
      path: await world.userPath(),
      json: { name: freshName("made"), auto_init: true },
      as: await world.admin(),
    }),
    variants: async (world) => [{ path: { username: (await world.org()).name } }],
    announces: once("repository.created", "repository.pushed"),
  },
  adminCollectRepository: {
    request: async (world) => ({
      path: await world.repoPath(),
      json: { grace_days: 3 },
      as: await world.admin(),
    }),
    announces: NOTHING,
  },
});
