import { defineSamples } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  repoListEvents: {
    request: async (world) => ({ path: await world.codePath() }),
    variants: async () => [{ query: { after: "7" } }],
  },
});
