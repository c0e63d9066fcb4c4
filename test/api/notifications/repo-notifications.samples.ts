import { defineSamples, NOTHING } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  notifyGetRepoList: {
    request: async (world) => {
      await world.notification();
      return { path: await world.repoPath() };
    },
    variants: async () => [
      { query: { all: "true" } },
      { query: { since: "1970-01-01T00:00:00Z", "subject-type": "issue" } },
    ],
  },
  notifyReadRepoList: {
    request: async (world) => {
      await world.notification();
      return { path: await world.repoPath() };
    },
    announces: NOTHING,
    variants: async () => [{ query: { all: "true", "to-status": "pinned" } }],
  },
});
