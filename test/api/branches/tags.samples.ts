import { freshName } from "../../support/make.ts";
import { defineSamples, once } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  repoListTags: { request: async (world) => ({ path: await world.codePath() }) },
  repoCreateTag: {
    request: async (world) => ({
      path: await world.codePath(),
      json: { tag_name: freshName("made"), message: "a word", target: "some/branch" },
    }),
    announces: once("repository.pushed"),
  },
  repoGetTag: {
    request: async (world) => ({ path: { ...(await world.codePath()), tag: "some/tag" } }),
  },
  repoDeleteTag: {
    request: async (world) => ({ path: { ...(await world.codePath()), tag: "some/tag" } }),
    announces: once("repository.pushed"),
  },
  GetAnnotatedTag: {
    request: async (world) => ({
      path: { ...(await world.codePath()), sha: (await world.code()).tagOid },
    }),
  },
});
