import { defineSamples, NOTHING } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

const onNone = {
  request: async (world: World) => ({
    as: await world.admin(),
    path: { owner: (await world.user()).name, repo: "nothing" },
  }),
  announces: NOTHING,
  refusal: { status: 404, reason: "the storage has no repositories of others" },
};

export const samples = defineSamples({
  adminUnadoptedList: { request: async (world) => ({ as: await world.admin() }) },
  adminAdoptRepository: onNone,
  adminDeleteUnadoptedRepository: onNone,
});
