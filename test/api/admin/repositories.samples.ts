import { freshName } from "../../support/make.ts";
import { defineSamples, once } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  adminCreateRepo: {
    request: async (world) => ({
      path: await world.userPath(),
      json: { name: freshName("made"), auto_init: true },
      as: await world.admin(),
    }),
    announces: once("repository.created", "repository.pushed"),
  },
});
