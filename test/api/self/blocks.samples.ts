import { defineSamples, once, undoneBy } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

const blockedPath = async (world: World) => {
  await world.block();
  return world.strangerPath();
};

export const samples = defineSamples({
  userListBlocks: {
    request: async (world) => {
      await world.block();
      return {};
    },
    sameForBound: "blocks are in no repository",
  },
  userCheckUserBlock: {
    request: async (world) => ({ path: await blockedPath(world) }),
    sameForBound: "blocks are in no repository",
  },
  userBlockUser: {
    request: async (world) => ({ path: await world.strangerPath() }),
    announces: undoneBy("userUnblockUser", "block.created"),
  },
  userUnblockUser: {
    request: async (world) => ({ path: await blockedPath(world) }),
    announces: once("block.deleted"),
  },
});
