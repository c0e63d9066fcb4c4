import { defineSamples } from "../../support/samples/sample.ts";

/** What every answer here is about. */
const SETTINGS = {
  needsNoScope: true,
  usesNoDatabase: true,
  sameForPublicOnly: "settings of the service",
  sameForBound: "settings of the service",
} as const;

export const samples = defineSamples({
  getGeneralAPISettings: { request: async () => ({}), ...SETTINGS },
  getGeneralRepositorySettings: { request: async () => ({}), ...SETTINGS },
});
