import { PIXELS } from "../../support/images.ts";
import { defineSamples, once } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  orgUpdateAvatar: {
    request: async (world) => ({
      path: await world.orgPath(),
      json: { image: PIXELS["image/gif"] },
    }),
    announces: once("organization.avatar_changed"),
  },
  orgDeleteAvatar: {
    request: async (world) => {
      await world.orgAvatar();
      return { path: await world.orgPath() };
    },
    announces: once("organization.avatar_changed"),
  },
});
