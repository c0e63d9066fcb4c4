import { defineSamples } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  repoGetIssueTemplates: { request: async (world) => ({ path: await world.codePath() }) },
  repoGetIssueConfig: { request: async (world) => ({ path: await world.codePath() }) },
  repoValidateIssueConfig: { request: async (world) => ({ path: await world.codePath() }) },
});
