import { defineSamples } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  userCurrentListEvents: {
    request: async (world) => {
      await world.code();
      return {};
    },
    queries: async () => ["?limit=3"],
  },
});
