import { defineSamples } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  userSearch: {
    request: async (world) => ({ query: { q: (await world.friend()).name } }),
    variants: async () => [{ query: {} }, { query: { q: "so" } }],
    sameForBound: "accounts are in no repository",
  },
  userGet: {
    request: async (world) => ({ path: await world.userPath() }),
    sameForBound: "accounts are in no repository",
  },
  userListRepos: {
    request: async (world) => {
      await world.repo();
      return { path: await world.userPath() };
    },
  },
});
