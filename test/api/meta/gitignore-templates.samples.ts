import { defineSamples } from "../../support/samples/sample.ts";

const TEMPLATES = {
  needsNoScope: true,
  usesNoDatabase: true,
  sameForPublicOnly: "templates of the service",
  sameForBound: "templates of the service",
} as const;

export const samples = defineSamples({
  listGitignoresTemplates: { request: async () => ({}), ...TEMPLATES },
  getGitignoreTemplateInfo: { request: async () => ({ path: { name: "Go" } }), ...TEMPLATES },
});
