import { freshName } from "../../support/make.ts";
import { defineSamples, once } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  repoCreateWikiPage: {
    request: async (world) => ({
      path: await world.repoPath(),
      json: { title: freshName("page"), content_base64: "SGk=" },
    }),
    announces: once("wiki.changed"),
  },
  repoGetWikiPage: { request: async (world) => ({ path: await world.wikiPagePath() }) },
  repoEditWikiPage: {
    request: async (world) => ({
      path: await world.wikiPagePath(),
      json: { content_base64: "SGk=" },
    }),
    announces: once("wiki.changed"),
  },
  repoDeleteWikiPage: {
    request: async (world) => ({ path: await world.wikiPagePath() }),
    announces: once("wiki.changed"),
  },
  repoGetWikiPages: {
    request: async (world) => {
      await world.wikiPagePath();
      return { path: await world.repoPath() };
    },
  },
  repoGetWikiPageRevisions: { request: async (world) => ({ path: await world.wikiPagePath() }) },
});
