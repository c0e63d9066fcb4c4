import { NOWHERE } from "../../support/mirror-rows.ts";
import { defineSamples, NOTHING, once } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

const mirrorPath = async (world: World) => ({
  ...(await world.repoPath()),
  name: (await world.pushMirror()).remoteName,
});

const ofMirrored = async (world: World) => {
  await world.pushMirror();
  return { path: await world.repoPath() };
};

export const samples = defineSamples({
  repoMirrorSync: {
    request: async (world) => {
      await world.pullMirror();
      return { path: await world.repoPath() };
    },
    announces: NOTHING,
  },
  repoListPushMirrors: { request: ofMirrored },
  repoAddPushMirror: {
    request: async (world) => ({
      path: await world.repoPath(),
      json: { remote_address: NOWHERE, interval: "0", sync_on_commit: true },
    }),
    announces: { first: ["push_mirror.added"], again: ["push_mirror.added"] },
  },
  repoGetPushMirrorByRemoteName: {
    request: async (world) => ({ path: await mirrorPath(world) }),
  },
  repoDeletePushMirror: {
    request: async (world) => ({ path: await mirrorPath(world) }),
    announces: once("push_mirror.removed"),
  },
  repoPushMirrorSync: { request: ofMirrored, announces: NOTHING },
});
