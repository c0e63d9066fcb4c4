import { defineSamples } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  userCurrentListEvents: {
    request: async (world) => {
      await world.code();
      return {};
    },
    variants: async () => [{ query: { limit: "3" } }],
  },
});
