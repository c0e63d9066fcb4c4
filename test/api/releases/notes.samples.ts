import { defineSamples } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  repoGenerateReleaseNotes: {
    request: async (world) => ({
      path: await world.codePath(),
      json: { tag_name: "some/tag", previous_tag_name: "" },
    }),
    onlyReads: true,
  },
});
