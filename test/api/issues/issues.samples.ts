import { defineSamples, eachTime } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  issueCreateIssue: {
    request: async (world) => ({
      path: await world.repoPath(),
      json: {
        title: "It rains",
        assignees: [(await world.user()).name],
        milestone: (await world.milestone()).id,
      },
    }),
    announces: eachTime("issue.opened", "issue.assigned", "issue.milestoned"),
  },
  issueGetIssue: { request: async (world) => ({ path: await world.issuePath() }) },
});
