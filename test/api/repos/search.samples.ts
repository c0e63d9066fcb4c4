import { defineSamples } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  repoSearch: {
    request: async (world) => ({ query: { q: (await world.repo()).name } }),
    queries: async (world) => {
      const { id } = await world.user();
      return [
        "",
        "?q=something&includeDesc=true",
        "?q=so",
        "?q=some/thing",
        `?uid=${id}`,
        `?starredBy=${id}`,
        "?team_id=1",
        "?sort=created&order=desc",
        "?sort=stars&order=desc",
        "?q=plans,engines,a,b,c,d&topic=true",
        `?q=plans&topic=true&uid=${id}`,
      ];
    },
  },
});
