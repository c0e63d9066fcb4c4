import { defineSamples } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  issueSearchIssues: {
    request: async (world) => {
      await world.issue();
      return { query: { owner: (await world.user()).name } };
    },
    variants: async (world) => {
      const [{ name: owner }, org, team] = [
        await world.user(),
        await world.org(),
        await world.team(),
      ];
      await world.comment();
      const { id } = await world.repo();
      return [
        { query: {} },
        { query: { state: "all", sort: "oldest" } },
        { query: { sort: "recentupdate", type: "issues" } },
        { query: { sort: "mostcomment" } },
        { query: { sort: "nearduedate" } },
        { query: { labels: "a", milestones: "b" } },
        { query: { owner, labels: "a,b", milestones: "c", state: "all" } },
        { query: { owner: org.name, team: team.name } },
        { query: { q: "comment" } },
        { query: { q: "comment label:a -label:b milestone:c no:assignee", owner } },
        { query: { q: "7" } },
        { query: { created: "true", assigned: "true", mentioned: "true", state: "all" } },
        { query: { assigned: "true" } },
        { query: { mentioned: "true", sort: "leastupdate" } },
        { query: { q: "author:nobody", since: "2020-01-31T08:15:00Z" } },
        { query: { priority_repo_id: String(id) } },
        { query: { reviewed: "true" } },
      ];
    },
  },
});
