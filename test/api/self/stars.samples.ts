import { defineSamples, once, undoneBy } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

const starredPath = async (world: World) => {
  await world.star();
  return world.repoPath();
};

export const samples = defineSamples({
  userCurrentListStarred: {
    request: async (world) => {
      await world.star();
      return {};
    },
  },
  userCurrentCheckStarring: { request: async (world) => ({ path: await starredPath(world) }) },
  userCurrentPutStar: {
    request: async (world) => ({ path: await world.repoPath() }),
    announces: undoneBy("userCurrentDeleteStar", "star.created"),
  },
  userCurrentDeleteStar: {
    request: async (world) => ({ path: await starredPath(world) }),
    announces: once("star.deleted"),
  },
  userListStarred: {
    request: async (world) => {
      await world.star();
      return { path: await world.userPath() };
    },
  },
});
