import { defineSamples, eachTime } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  repoCreatePullRequest: {
    request: async (world) => {
      await world.pull();
      return {
        path: await world.repoPath(),
        json: {
          title: "A topic",
          head: "topic",
          base: "some/branch",
          assignees: [(await world.user()).name],
          labels: [(await world.label()).id],
          milestone: (await world.milestone()).id,
        },
      };
    },
    announces: eachTime("issue.opened", "issue.assigned", "issue.labeled", "issue.milestoned"),
  },
  repoGetPullRequest: { request: async (world) => ({ path: await world.pullPath() }) },
});
