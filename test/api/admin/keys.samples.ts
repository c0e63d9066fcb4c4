import { makeSshKey } from "../../support/keys.ts";
import { freshName } from "../../support/make.ts";
import { defineSamples, once } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  adminCreatePublicKey: {
    request: async (world) => ({
      as: await world.admin(),
      path: await world.userPath(),
      json: { title: freshName("made"), key: makeSshKey().line },
    }),
    announces: once("public_key.added"),
  },
  adminDeleteUserPublicKey: {
    request: async (world) => ({
      as: await world.admin(),
      path: { ...(await world.userPath()), id: (await world.userKey()).id },
    }),
    announces: once("public_key.removed"),
  },
});
