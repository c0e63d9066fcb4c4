import { PIXELS } from "../../support/images.ts";
import { defineSamples, once } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  userUpdateAvatar: {
    request: async () => ({ json: { image: PIXELS["image/png"] } }),
    announces: once("user.edited"),
  },
  userDeleteAvatar: {
    request: async (world) => {
      await world.avatar();
      return {};
    },
    announces: once("user.edited"),
  },
});
