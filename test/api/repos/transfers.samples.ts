import { defineSamples, once } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

const offered = async (world: World) => {
  await world.offer();
  return { path: await world.repoPath(), as: await world.stranger() };
};

export const samples = defineSamples({
  repoTransfer: {
    request: async (world) => ({
      path: await world.repoPath(),
      json: { new_owner: (await world.stranger()).name },
    }),
    announces: once("repository.transfer_started"),
  },
  acceptRepoTransfer: { request: offered, announces: once("repository.transferred") },
  rejectRepoTransfer: { request: offered, announces: once("repository.transfer_rejected") },
});
