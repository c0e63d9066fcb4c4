import { defineSamples } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  repoExport: {
    request: async (world) => {
      await world.code();
      return { path: await world.repoPath() };
    },
  },
});
