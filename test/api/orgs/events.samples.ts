import { defineSamples } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  orgListEvents: {
    request: async (world) => {
      await world.orgCode();
      return { path: await world.orgPath() };
    },
  },
});
