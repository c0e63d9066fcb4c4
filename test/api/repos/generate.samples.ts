import { freshName } from "../../support/make.ts";
import { defineSamples, once } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  generateRepo: {
    request: async (world) => ({
      path: await world.templatePath(),
      json: {
        owner: (await world.user()).name,
        name: freshName("made"),
        git_content: true,
        topics: true,
        webhooks: true,
        avatar: true,
      },
    }),
    announces: once("repository.created", "repository.pushed"),
  },
});
