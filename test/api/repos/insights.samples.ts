import { defineSamples } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  repoGetLanguages: { request: async (world) => ({ path: await world.codePath() }) },
  repoGetLicenses: { request: async (world) => ({ path: await world.codePath() }) },
});
