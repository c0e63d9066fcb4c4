import { makeExport } from "../../support/exports.ts";
import { freshName } from "../../support/make.ts";
import { defineSamples, once } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  repoImport: {
    request: async (world) => ({
      query: { name: freshName("imported"), owner: (await world.org()).name, private: "true" },
      body: makeExport(),
    }),
    announces: once("repository.created", "repository.topics_changed", "migration.finished"),
    extraRound: "it looks at the import again and again until its end, for some seconds at most",
    extraRounds: 30,
  },
});
