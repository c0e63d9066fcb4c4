import { defineSamples } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  issueGetIssue: { request: async (world) => ({ path: await world.issuePath() }) },
});
