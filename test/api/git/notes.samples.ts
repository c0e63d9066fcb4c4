import { defineSamples, eachTime, once } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

const commitPath = async (world: World) => ({ ...(await world.codePath()), sha: "main" });
const notePath = async (world: World) => {
  await world.note();
  return commitPath(world);
};

export const samples = defineSamples({
  repoGetNote: { request: async (world) => ({ path: await notePath(world) }) },
  repoCreateNote: {
    request: async (world) => ({
      path: await commitPath(world),
      json: { message: "a word" },
    }),
    announces: once("repository.pushed"),
  },
  repoEditNote: {
    request: async (world) => ({ path: await notePath(world), json: { message: "a word" } }),
    // As in git, an edit with the same text creates another commit, which updates the ref.
    announces: eachTime("repository.pushed"),
  },
  repoDeleteNote: {
    request: async (world) => ({ path: await notePath(world) }),
    announces: once("repository.pushed"),
  },
});
