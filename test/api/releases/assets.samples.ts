import { defineSamples, eachTime, once } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

const assetPath = async (world: World) => ({
  ...(await world.releasePath()),
  attachment_id: (await world.asset()).id,
});

const form = () => {
  const body = new FormData();
  body.append("attachment", new File(["hello"], "a.txt"));
  return body;
};

export const samples = defineSamples({
  repoListReleaseAttachments: {
    request: async (world) => {
      await world.asset();
      return { path: await world.releasePath() };
    },
  },
  repoCreateReleaseAttachment: {
    request: async (world) => ({ path: await world.releasePath(), body: form() }),
    announces: eachTime("release.updated"),
    extraRound: "the file is noted before its first byte is stored",
  },
  repoGetReleaseAttachment: { request: async (world) => ({ path: await assetPath(world) }) },
  repoEditReleaseAttachment: {
    request: async (world) => ({ path: await assetPath(world), json: { name: "b.txt" } }),
    announces: once("release.updated"),
  },
  repoDeleteReleaseAttachment: {
    request: async (world) => ({ path: await assetPath(world) }),
    announces: once("release.updated"),
  },
});
