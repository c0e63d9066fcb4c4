import { defineSamples } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  userSearch: {
    request: async (world) => ({ query: { q: (await world.friend()).name } }),
    queries: async () => ["", "?q=so"],
  },
  userGet: { request: async (world) => ({ path: await world.userPath() }) },
  userListRepos: {
    request: async (world) => {
      await world.repo();
      return { path: await world.userPath() };
    },
  },
});
