import { PIXELS } from "../../support/images.ts";
import { defineSamples, once } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  repoUpdateAvatar: {
    request: async (world) => ({
      path: await world.repoPath(),
      json: { image: PIXELS["image/webp"] },
    }),
    announces: once("repository.edited"),
  },
  repoDeleteAvatar: {
    request: async (world) => {
      await world.repoAvatar();
      return { path: await world.repoPath() };
    },
    announces: once("repository.edited"),
  },
});
