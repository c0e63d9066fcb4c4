import { defineSamples, type Sample } from "../../support/samples/sample.ts";

/** signing-keys.test.ts covers a service with a key. */
const WITHOUT_KEY = {
  refusal: { status: 404, reason: "the tested service has no signing key" },
  sameForPublicOnly: "the key of the service is public",
  sameForBound: "the key of the service is public",
} as const;

const ofService = {
  request: async () => ({}),
  needsNoScope: true,
  usesNoDatabase: true,
  ...WITHOUT_KEY,
} satisfies Sample;

const ofRepo = {
  request: async (world) => ({ path: await world.repoPath() }),
  ...WITHOUT_KEY,
} satisfies Sample;

export const samples = defineSamples({
  getSigningKey: ofService,
  getSigningKeySSH: ofService,
  getSigningKeyOpenSSH: ofService,
  repoSigningKey: ofRepo,
  repoSigningKeySSH: ofRepo,
  repoSigningKeyOpenSSH: ofRepo,
});
