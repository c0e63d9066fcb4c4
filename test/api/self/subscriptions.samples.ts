import { defineSamples } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  userCurrentListSubscriptions: {
    request: async (world) => {
      await world.watch();
      return {};
    },
  },
  userListSubscriptions: {
    request: async (world) => {
      await world.watch();
      return { path: await world.userPath() };
    },
  },
});
