import { defineSamples, eachTime, once } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

const milestonePath = async (world: World) => ({
  ...(await world.repoPath()),
  id: (await world.milestone()).id,
});

export const samples = defineSamples({
  issueGetMilestonesList: {
    request: async (world) => {
      await world.milestone();
      return { path: await world.repoPath() };
    },
    variants: async () => [
      { query: { state: "closed", page: "2", limit: "3" } },
      { query: { state: "open", name: "v" } },
    ],
  },
  issueCreateMilestone: {
    request: async (world) => ({
      path: await world.repoPath(),
      json: { title: "v1", description: "the first", due_on: "2030-01-02T03:04:05Z" },
    }),
    // Titles are not unique.
    announces: eachTime("milestone.created"),
  },
  issueGetMilestone: {
    request: async (world) => ({ path: await milestonePath(world) }),
    variants: async (world) => [
      { path: { ...(await world.repoPath()), id: (await world.milestone()).title } },
    ],
  },
  issueEditMilestone: {
    request: async (world) => ({
      path: await milestonePath(world),
      json: { title: "v2", due_on: "2031-01-02T03:04:05Z", state: "closed" },
    }),
    announces: once("milestone.edited", "milestone.closed"),
  },
  issueDeleteMilestone: {
    request: async (world) => ({ path: await milestonePath(world) }),
    announces: once("milestone.deleted"),
  },
});
