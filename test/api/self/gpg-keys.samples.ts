import { call } from "../../support/call.ts";
import { makeGpgKey, signText } from "../../support/keys.ts";
import { defineSamples, once } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

const keyPath = async (world: World) => ({ id: (await world.gpgKey()).id });

export const samples = defineSamples({
  userCurrentListGPGKeys: {
    request: async (world) => {
      await world.gpgKey();
      return {};
    },
    sameForPublicOnly: "keys are public",
    sameForBound: "keys are public",
  },
  userCurrentPostGPGKey: {
    request: async (world) => {
      const { armored } = await makeGpgKey((await world.user()).email);
      return { json: { armored_public_key: armored } };
    },
    announces: once("gpg_key.added"),
  },
  getVerificationToken: {
    request: async () => ({}),
    sameForPublicOnly: "it is derived from the account's own address",
    sameForBound: "it is derived from the account's own address",
  },
  userVerifyGPGKey: {
    request: async (world) => {
      const user = await world.user();
      const key = await makeGpgKey(user.email);
      const json = { armored_public_key: key.armored };
      const { status } = await call("POST", "/user/gpg_keys", { as: user, json });
      if (status !== 201) throw new Error(`the key was refused with ${status}`);
      const { body: token } = await call("GET", "/user/gpg_key_token", { as: user });
      return { json: { key_id: key.keyId, armored_signature: await signText(key, token) } };
    },
    announces: once("gpg_key.verified"),
  },
  userCurrentGetGPGKey: {
    request: async (world) => ({ path: await keyPath(world) }),
    sameForPublicOnly: "keys are public",
    sameForBound: "keys are public",
  },
  userCurrentDeleteGPGKey: {
    request: async (world) => ({ path: await keyPath(world) }),
    announces: once("gpg_key.removed"),
  },
  userListGPGKeys: {
    request: async (world) => {
      await world.gpgKey();
      return { path: await world.userPath() };
    },
    sameForBound: "keys are public",
  },
});
