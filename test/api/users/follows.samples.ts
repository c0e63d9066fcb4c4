import { defineSamples, once, undoneBy } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

const followedPath = async (world: World) => {
  await world.follow();
  return world.friendPath();
};

export const samples = defineSamples({
  userCurrentListFollowers: {
    request: async () => ({}),
    sameForBound: "follows are in no repository",
  },
  userCurrentListFollowing: {
    request: async (world) => {
      await world.follow();
      return {};
    },
    sameForBound: "follows are in no repository",
  },
  userCurrentCheckFollowing: {
    request: async (world) => ({ path: await followedPath(world) }),
    sameForBound: "follows are in no repository",
  },
  userCurrentPutFollow: {
    request: async (world) => ({ path: await world.friendPath() }),
    announces: undoneBy("userCurrentDeleteFollow", "follow.created"),
  },
  userCurrentDeleteFollow: {
    request: async (world) => ({ path: await followedPath(world) }),
    announces: once("follow.deleted"),
  },
  userListFollowers: {
    request: async (world) => ({ path: await followedPath(world) }),
    sameForBound: "follows are in no repository",
  },
  userListFollowing: {
    request: async (world) => {
      await world.follow();
      return { path: await world.userPath() };
    },
    sameForBound: "follows are in no repository",
  },
  userCheckFollowing: {
    request: async (world) => {
      await world.follow();
      const { username: target } = await world.friendPath();
      return { path: { ...(await world.userPath()), target } };
    },
    sameForBound: "follows are in no repository",
  },
});
