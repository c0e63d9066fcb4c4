import { defineSamples } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  repoSearch: {
    request: async (world) => ({ query: { q: (await world.repo()).name } }),
    variants: async (world) => {
      const { id } = await world.user();
      return [
        { query: {} },
        { query: { q: "something", includeDesc: "true" } },
        { query: { q: "so" } },
        { query: { q: "some/thing" } },
        { query: { uid: String(id) } },
        { query: { starredBy: String(id) } },
        { query: { team_id: "1" } },
        { query: { sort: "created", order: "desc" } },
        { query: { sort: "stars", order: "desc" } },
        { query: { q: "plans,engines,a,b,c,d", topic: "true" } },
        { query: { q: "plans", topic: "true", uid: String(id) } },
      ];
    },
  },
});
