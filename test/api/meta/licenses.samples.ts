import { defineSamples } from "../../support/samples/sample.ts";

const TEMPLATES = {
  needsNoScope: true,
  usesNoDatabase: true,
  sameForPublicOnly: "templates of the service",
  sameForBound: "templates of the service",
} as const;

export const samples = defineSamples({
  listLicenseTemplates: { request: async () => ({}), ...TEMPLATES },
  getLicenseTemplateInfo: { request: async () => ({ path: { name: "MIT" } }), ...TEMPLATES },
});
