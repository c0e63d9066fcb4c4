import { freshName } from "../../support/make.ts";
import { defineSamples, eachTime, once } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

const filePath = async (world: World) => ({ ...(await world.codePath()), filepath: "file" });

export const samples = defineSamples({
  repoChangeFiles: {
    request: async (world) => ({
      path: await world.codePath(),
      json: { files: [{ operation: "upload", path: "file", content: "YQ==" }] },
    }),
    announces: eachTime("repository.pushed"),
  },
  repoCreateFile: {
    request: async (world) => ({
      path: { ...(await world.codePath()), filepath: "new/file" },
      json: { content: "YQ==", new_branch: freshName("made") },
    }),
    announces: once("repository.pushed"),
  },
  repoUpdateFile: {
    request: async (world) => ({
      path: await filePath(world),
      json: { content: "YQ==", sha: (await world.code()).blobOid },
    }),
    announces: once("repository.pushed"),
  },
  repoDeleteFile: {
    request: async (world) => ({
      path: await filePath(world),
      json: { sha: (await world.code()).blobOid },
    }),
    announces: once("repository.pushed"),
  },
});
