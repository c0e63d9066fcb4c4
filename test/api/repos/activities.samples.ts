import { defineSamples } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  repoListActivityFeeds: {
    request: async (world) => ({ path: await world.codePath() }),
    variants: async () => [{ query: { date: "2026-01-31" } }],
  },
});
