import { defineSamples, NOTHING } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  repoGetFileContents: {
    request: async (world) => ({
      path: await world.codePath(),
      query: { body: JSON.stringify({ files: ["file"] }) },
    }),
  },
  repoGetFileContentsPost: {
    request: async (world) => ({
      path: await world.codePath(),
      json: { files: ["file", "none"] },
    }),
    announces: NOTHING,
    onlyReads: true,
  },
});
