import { makePull } from "../../support/pulls.ts";
import { defineSamples, once } from "../../support/samples/sample.ts";

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
    announces: once("issue.opened", "issue.assigned", "issue.labeled", "issue.milestoned"),
  },
  repoEditPullRequest: {
    request: async (world) => ({
      path: await world.pullPath(),
      json: {
        title: "Another title",
        base: "some/branch",
        labels: [(await world.label()).id],
        state: "closed",
        allow_maintainer_edit: true,
      },
    }),
    // Sent again, it is closed already.
    announces: { first: ["pull.retargeted", "issue.edited", "issue.labeled", "issue.closed"] },
  },
  repoListPullRequests: {
    request: async (world) => {
      await world.pull();
      return { path: await world.repoPath() };
    },
    variants: async (world) => {
      const labels = String((await world.label()).id);
      const milestone = String((await world.milestone()).id);
      return [
        { query: { state: "closed", sort: "recentclose" } },
        { query: { state: "all", base_branch: "main" } },
        { query: { state: "all", base_branch: "main", sort: "mostcomment" } },
        { query: { labels, sort: "oldest" } },
        { query: { labels: `${labels},5`, milestone, head_branch: "topic", sort: "leastupdate" } },
        { query: { milestone } },
        { query: { poster: (await world.user()).name } },
      ];
    },
  },
  repoListPinnedPullRequests: {
    request: async (world) => {
      await world.pull();
      return { path: await world.repoPath() };
    },
  },
  repoGetCommitPullRequest: {
    request: async (world) => {
      const { oid: sha } = await world.code();
      const commits = { headOid: sha, mergeBaseOid: sha, checkedBaseOid: sha, mergeCommitOid: sha };
      await makePull(await world.repo(), { mergedAt: 1, ...commits }, { isClosed: true });
      return { path: { ...(await world.repoPath()), sha } };
    },
  },
  repoGetPullRequest: { request: async (world) => ({ path: await world.pullPath() }) },
});
