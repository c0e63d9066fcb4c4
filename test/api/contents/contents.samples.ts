import { defineSamples } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

const filePath = async (world: World) => ({ ...(await world.codePath()), filepath: "file" });

export const samples = defineSamples({
  repoGetContentsList: { request: async (world) => ({ path: await world.codePath() }) },
  repoGetContents: { request: async (world) => ({ path: await filePath(world) }) },
  repoGetContentsExt: { request: async (world) => ({ path: await filePath(world) }) },
});
