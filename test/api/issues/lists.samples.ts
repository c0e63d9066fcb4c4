import { ISSUE_SORTS } from "../../../src/domain/issues/lists/issue-query.ts";
import { defineSamples } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

const pathOf = async (world: World) => {
  const { owner, repo } = await world.issuePath();
  return { owner, repo };
};

export const samples = defineSamples({
  issueListIssues: {
    request: async (world) => ({ path: await pathOf(world) }),
    variants: async (world) => {
      const path = await pathOf(world);
      await world.comment();
      const label = await world.label();
      const milestone = await world.milestone();
      const { name } = await world.user();
      const people = { created_by: name, assigned_by: name, mentioned_by: name };
      const all = { labels: label.name, milestones: milestone.title, ...people };
      const queries = [
        { labels: label.name },
        { labels: `${label.name},other`, state: "all" },
        { milestones: milestone.title },
        { milestones: `${milestone.title},1` },
        ...Object.entries(people).map(([key, value]) => ({ [key]: value })),
        { since: "2020-01-31T08:15:00Z" },
        { q: "comment" },
        { q: "comment label:a author:b no:milestone", ...all },
        { q: "label:a label:b -label:c milestone:d mentions:e no:assignee" },
        all,
      ];
      const sorted = ISSUE_SORTS.flatMap((sort) => [
        { sort },
        { sort, state: "all", type: "issues" },
        { sort, ...all, since: "2020-01-31T08:15:00Z" },
        { sort, q: "comment" },
      ]);
      return [...queries, ...sorted].map((query) => ({ path, query }));
    },
  },
});
