import { defineSamples, undoneBy } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  issueGetLabels: {
    request: async (world) => {
      await world.issueLabel();
      return { path: await world.issuePath() };
    },
  },
  issueAddLabel: {
    request: async (world) => ({
      path: await world.issuePath(),
      json: { labels: [(await world.label()).id] },
    }),
    announces: undoneBy("issueClearLabels", "issue.labeled"),
    variants: async (world) => [{ json: { labels: [(await world.label()).name] } }],
  },
  issueReplaceLabels: {
    request: async (world) => ({
      path: await world.issuePath(),
      json: { labels: [(await world.label()).id] },
    }),
    announces: undoneBy("issueClearLabels", "issue.labeled"),
    variants: async (world) => [{ json: { labels: [(await world.label()).name] } }],
  },
  issueClearLabels: {
    request: async (world) => {
      await world.issueLabel();
      return { path: await world.issuePath() };
    },
    announces: { first: ["issue.labels_cleared"] },
  },
  issueRemoveLabel: {
    request: async (world) => {
      await world.issueLabel();
      return { path: { ...(await world.issuePath()), id: (await world.label()).id } };
    },
    announces: { first: ["issue.labeled"] },
  },
});
