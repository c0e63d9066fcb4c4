import { defineSamples } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  getNodeInfo: {
    request: async () => ({}),
    needsNoScope: true,
    usesNoDatabase: true,
    sameForPublicOnly: "description of the service",
    sameForBound: "description of the service",
  },
});
