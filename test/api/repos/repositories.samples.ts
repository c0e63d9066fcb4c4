import { freshName } from "../../support/make.ts";
import { defineSamples, once } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  createCurrentUserRepo: {
    request: async () => ({
      json: { name: freshName("made"), auto_init: true, license: "MIT", gitignores: "Go" },
    }),
    // The repository is created with a watch of its creator and with the default webhooks.
    announces: once("repository.created", "repository.pushed"),
  },
  userCurrentListRepos: {
    request: async (world) => {
      await world.repo();
      return {};
    },
  },
  repoGetByID: { request: async (world) => ({ path: { id: (await world.repo()).id } }) },
  repoGet: { request: async (world) => ({ path: await world.repoPath() }) },
  repoEdit: {
    request: async (world) => ({
      path: await world.repoPath(),
      json: { name: freshName("made"), description: "b", private: true },
    }),
    // The second request is redirected to the new name, where nothing is left to change.
    announces: once("repository.edited", "repository.renamed", "repository.visibility_changed"),
  },
  repoDelete: {
    request: async (world) => ({ path: await world.repoPath() }),
    announces: once("repository.deleted"),
  },
});
