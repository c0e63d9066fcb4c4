import { defineSamples, once } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  issueEditIssueDeadline: {
    request: async (world) => ({
      path: await world.issuePath(),
      json: { due_date: "2030-01-31T12:00:00Z" },
    }),
    announces: once("issue.deadline_changed"),
    variants: async () => [{ json: {} }],
  },
});
