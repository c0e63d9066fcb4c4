import { defineSamples } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  GetTree: { request: async (world) => ({ path: { ...(await world.codePath()), sha: "main" } }) },
});
