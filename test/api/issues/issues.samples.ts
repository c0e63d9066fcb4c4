import { defineSamples, eachTime, once } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  issueCreateIssue: {
    request: async (world) => ({
      path: await world.repoPath(),
      json: {
        title: "It rains",
        assignees: [(await world.user()).name],
        labels: [(await world.label()).id],
        milestone: (await world.milestone()).id,
      },
    }),
    announces: eachTime("issue.opened", "issue.assigned", "issue.labeled", "issue.milestoned"),
  },
  issueGetIssue: { request: async (world) => ({ path: await world.issuePath() }) },
  issueEditIssue: {
    request: async (world) => ({
      path: await world.issuePath(),
      json: {
        title: "It snows",
        body: "since noon",
        ref: "main",
        state: "closed",
        assignees: [(await world.user()).name],
        milestone: (await world.milestone()).id,
        due_date: "2030-01-31T12:00:00Z",
      },
    }),
    announces: once(
      "issue.edited",
      "issue.assigned",
      "issue.milestoned",
      "issue.deadline_changed",
      "issue.closed",
    ),
    variants: async () => [{ json: { assignees: [], milestone: 0, unset_due_date: true } }],
  },
  issueDelete: {
    request: async (world) => ({ path: await world.issuePath() }),
    announces: once("issue.deleted"),
  },
});
