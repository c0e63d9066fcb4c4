import { defineSamples, NOTHING } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  linkPackage: {
    request: async (world) => ({
      path: { ...(await world.packagePath()), repo_name: (await world.repo()).name },
    }),
    announces: NOTHING,
  },
  unlinkPackage: {
    request: async (world) => ({ path: await world.linkedPackagePath() }),
    announces: NOTHING,
  },
});
