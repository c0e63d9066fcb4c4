import { defineSamples, once } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  repoMergeUpstream: {
    request: async (world) => ({
      path: await world.staleForkPath(),
      json: { branch: "main" },
    }),
    announces: once("repository.pushed"),
  },
});
