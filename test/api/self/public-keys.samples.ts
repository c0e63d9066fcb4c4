import { makeSshKey } from "../../support/keys.ts";
import { freshName } from "../../support/make.ts";
import { defineSamples, once } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

const keyPath = async (world: World) => ({ id: (await world.userKey()).id });

export const samples = defineSamples({
  userCurrentListKeys: {
    request: async (world) => {
      await world.userKey();
      return {};
    },
    sameForBound: "keys are public",
  },
  userCurrentPostKey: {
    request: async () => ({ json: { title: freshName("made"), key: makeSshKey().line } }),
    announces: once("public_key.added"),
  },
  userCurrentGetKey: {
    request: async (world) => ({ path: await keyPath(world) }),
    sameForBound: "keys are public",
  },
  userCurrentDeleteKey: {
    request: async (world) => ({ path: await keyPath(world) }),
    announces: once("public_key.removed"),
  },
  userListKeys: {
    request: async (world) => {
      await world.userKey();
      return { path: await world.userPath() };
    },
    sameForBound: "keys are public",
  },
});
