import { defineSamples, once, undoneBy } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

const blockPath = async (world: World) => ({
  ...(await world.orgPath()),
  ...(await world.strangerPath()),
});

const blockedPath = async (world: World) => {
  await world.orgBlock();
  return blockPath(world);
};

export const samples = defineSamples({
  organizationListBlocks: {
    request: async (world) => {
      await world.orgBlock();
      return { path: await world.orgPath() };
    },
    sameForBound: "blocks are in no repository",
  },
  organizationCheckUserBlock: {
    request: async (world) => ({ path: await blockedPath(world) }),
    sameForBound: "blocks are in no repository",
  },
  organizationBlockUser: {
    request: async (world) => ({ path: await blockPath(world) }),
    announces: undoneBy("organizationUnblockUser", "block.created"),
  },
  organizationUnblockUser: {
    request: async (world) => ({ path: await blockedPath(world) }),
    announces: once("block.deleted"),
  },
});
