import { freshName } from "../../support/make.ts";
import { defineSamples, once } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  createOrgRepo: {
    request: async (world) => ({
      path: await world.orgPath(),
      json: { name: freshName("made") },
    }),
    announces: once("repository.created"),
  },
  orgCreateRepo: {
    request: async (world) => ({
      path: await world.orgPath(),
      json: { name: freshName("made") },
    }),
    announces: once("repository.created"),
  },
  orgListRepos: {
    request: async (world) => {
      await world.orgRepo();
      return { path: await world.orgPath() };
    },
  },
});
