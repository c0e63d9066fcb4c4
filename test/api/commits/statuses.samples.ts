import { defineSamples, eachTime } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  repoCreateStatus: {
    request: async (world) => ({
      path: { ...(await world.codePath()), sha: "main" },
      json: { state: "pending", context: "build", target_url: "https://ci.example/1" },
    }),
    // A check may report the same state twice.
    announces: eachTime("commit_status.created"),
  },
  repoListStatuses: {
    request: async (world) => ({ path: { ...(await world.codePath()), sha: "main" } }),
    variants: async () => [{ query: { sort: "oldest" } }],
  },
  repoListStatusesByRef: {
    request: async (world) => ({ path: { ...(await world.codePath()), ref: "some/branch" } }),
    variants: async () => [{ query: { state: "error", page: "2", limit: "3" } }],
  },
  repoGetCombinedStatusByRef: {
    request: async (world) => ({ path: { ...(await world.codePath()), ref: "some/branch" } }),
  },
});
