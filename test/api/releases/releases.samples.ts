import { freshName } from "../../support/make.ts";
import { defineSamples, once } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

const byTag = async (world: World) => ({
  ...(await world.repoPath()),
  tag: (await world.release()).tagName,
});

export const samples = defineSamples({
  repoListReleases: {
    request: async (world) => {
      await world.release();
      return { path: await world.repoPath() };
    },
    variants: async () => [
      { query: { draft: "true", page: "2", limit: "3" } },
      { query: { "pre-release": "false", q: "v" } },
      { query: { draft: "false", "pre-release": "false" } },
    ],
  },
  repoCreateRelease: {
    request: async (world) => ({
      path: await world.codePath(),
      json: { tag_name: freshName("made"), name: "a name", target_commitish: "some/branch" },
    }),
    variants: async () => [
      { json: { tag_name: freshName("made"), draft: true } },
      { json: { tag_name: freshName("made"), generate_notes: true } },
    ],
    announces: once("repository.pushed", "release.published"),
    extraRound: "the push of its tag is recorded before it",
  },
  repoGetLatestRelease: {
    request: async (world) => {
      await world.release();
      return { path: await world.repoPath() };
    },
  },
  repoGetReleaseByTag: { request: async (world) => ({ path: await byTag(world) }) },
  repoDeleteReleaseByTag: {
    request: async (world) => ({ path: await byTag(world) }),
    announces: once("release.deleted"),
  },
  repoGetRelease: { request: async (world) => ({ path: await world.releasePath() }) },
  repoEditRelease: {
    request: async (world) => ({
      path: await world.releasePath(),
      json: { name: "another name", body: "text", prerelease: true },
    }),
    announces: once("release.updated"),
  },
  repoDeleteRelease: {
    request: async (world) => ({ path: await world.releasePath() }),
    announces: once("release.deleted"),
  },
});
