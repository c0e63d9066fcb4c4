import { defineSamples } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  getVersion: {
    request: async () => ({}),
    needsNoScope: true,
    usesNoDatabase: true,
    sameForPublicOnly: "the version of the service",
    sameForBound: "the version of the service",
  },
});
