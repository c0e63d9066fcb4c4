import { defineSamples } from "../../support/samples/sample.ts";

/** The body that all samples of this file share. */
const SETTINGS = {
  needsNoScope: true,
  usesNoDatabase: true,
  sameForPublicOnly: "settings of the service",
  sameForBound: "settings of the service",
} as const;

export const samples = defineSamples({
  getGeneralAPISettings: { request: async () => ({}), ...SETTINGS },
  getGeneralAttachmentSettings: { request: async () => ({}), ...SETTINGS },
  getGeneralRepositorySettings: { request: async () => ({}), ...SETTINGS },
  getGeneralUISettings: { request: async () => ({}), ...SETTINGS },
});
