import { defineSamples, NOTHING } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  repoGenerateReleaseNotes: {
    request: async (world) => ({
      path: await world.codePath(),
      json: { tag_name: "some/tag", previous_tag_name: "" },
    }),
    announces: NOTHING,
    onlyReads: true,
    extraRound:
      "the pull requests of the commits between two releases are known after the releases",
  },
});
