import { defineSamples, once, undoneBy } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  userCurrentCheckSubscription: {
    request: async (world) => {
      await world.watch();
      return { path: await world.repoPath() };
    },
  },
  userCurrentPutSubscription: {
    request: async (world) => ({ path: await world.repoPath() }),
    announces: undoneBy("userCurrentDeleteSubscription", "watch.created"),
  },
  userCurrentDeleteSubscription: {
    request: async (world) => {
      await world.watch();
      return { path: await world.repoPath() };
    },
    announces: once("watch.deleted"),
  },
  repoListSubscribers: {
    request: async (world) => {
      await world.watch();
      return { path: await world.repoPath() };
    },
  },
});
