import { defineSamples } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

const filePath = async (world: World) => ({ ...(await world.codePath()), filepath: "file" });

export const samples = defineSamples({
  repoGetRawFile: { request: async (world) => ({ path: await filePath(world) }) },
  repoGetRawFileOrLFS: { request: async (world) => ({ path: await filePath(world) }) },
});
