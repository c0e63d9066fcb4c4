import { defineSamples, once, undoneBy } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  issueLockIssue: {
    request: async (world) => ({
      path: await world.issuePath(),
      json: { lock_reason: "Off-topic" },
    }),
    announces: undoneBy("issueUnlockIssue", "issue.locked"),
  },
  issueUnlockIssue: {
    request: async (world) => {
      await world.lock();
      return { path: await world.issuePath() };
    },
    announces: once("issue.unlocked"),
  },
});
