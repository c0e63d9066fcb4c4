import { defineSamples } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  userListActivityFeeds: {
    request: async (world) => {
      await world.code();
      return { path: await world.userPath() };
    },
    variants: async () => [{ query: { "only-performed-by": "true" } }],
  },
  userGetHeatmapData: {
    request: async (world) => {
      await world.code();
      return { path: await world.userPath() };
    },
  },
});
