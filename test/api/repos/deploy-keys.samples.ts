import { makeSshKey } from "../../support/keys.ts";
import { freshName } from "../../support/make.ts";
import { defineSamples, once } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

const keyPath = async (world: World) => ({
  ...(await world.repoPath()),
  id: (await world.deployKey()).id,
});

export const samples = defineSamples({
  repoListKeys: {
    request: async (world) => {
      await world.deployKey();
      return { path: await world.repoPath() };
    },
  },
  repoCreateKey: {
    request: async (world) => ({
      path: await world.repoPath(),
      json: { title: freshName("made"), key: makeSshKey().line },
    }),
    announces: once("public_key.added"),
  },
  repoGetKey: { request: async (world) => ({ path: await keyPath(world) }) },
  repoDeleteKey: {
    request: async (world) => ({ path: await keyPath(world) }),
    announces: once("public_key.removed"),
  },
});
