import { defineSamples, NOTHING, once } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  repoListPinnedIssues: {
    request: async (world) => {
      await world.pin();
      return { path: await world.repoPath() };
    },
  },
  repoNewPinAllowed: { request: async (world) => ({ path: await world.repoPath() }) },
  pinIssue: {
    request: async (world) => ({ path: await world.issuePath() }),
    announces: once("issue.pinned"),
  },
  unpinIssue: {
    request: async (world) => {
      await world.pin();
      return { path: await world.issuePath() };
    },
    announces: once("issue.unpinned"),
  },
  moveIssuePin: {
    request: async (world) => {
      await world.pin();
      return { path: { ...(await world.issuePath()), position: 1 } };
    },
    announces: NOTHING,
  },
});
