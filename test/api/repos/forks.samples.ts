import { freshName } from "../../support/make.ts";
import { defineSamples, once } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  createFork: {
    request: async (world) => ({
      path: await world.repoPath(),
      json: { name: freshName("made"), organization: (await world.org()).name },
    }),
    announces: once("repository.forked"),
  },
  listForks: { request: async (world) => ({ path: await world.repoPath() }) },
});
