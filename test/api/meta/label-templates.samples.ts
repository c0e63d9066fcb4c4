import { defineSamples } from "../../support/samples/sample.ts";

const TEMPLATES = {
  needsNoScope: true,
  usesNoDatabase: true,
  sameForPublicOnly: "templates of the service",
  sameForBound: "templates of the service",
} as const;

export const samples = defineSamples({
  listLabelTemplates: { request: async () => ({}), ...TEMPLATES },
  getLabelTemplateInfo: { request: async () => ({ path: { name: "Default" } }), ...TEMPLATES },
});
