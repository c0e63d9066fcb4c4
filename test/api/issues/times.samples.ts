import { defineSamples, eachTime, once } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  issueTrackedTimes: {
    request: async (world) => {
      await world.time();
      return { path: await world.issuePath() };
    },
    variants: async (world) => [
      { query: { user: (await world.user()).name, since: "1970-01-01T00:00:00Z" } },
      { query: { before: "2100-01-01T00:00:00Z", page: "2", limit: "3" } },
    ],
  },
  issueAddTime: {
    request: async (world) => ({
      path: await world.issuePath(),
      json: { time: 60, user_name: (await world.user()).name },
    }),
    variants: async (world) => [{ json: { time: 60, user_name: (await world.stranger()).name } }],
    // The same work may take as long twice.
    announces: eachTime("issue.time_added"),
  },
  issueResetTime: {
    request: async (world) => {
      await world.time();
      return { path: await world.issuePath() };
    },
    announces: once("issue.times_reset"),
  },
  issueDeleteTime: {
    request: async (world) => ({
      path: { ...(await world.issuePath()), id: (await world.time()).id },
    }),
    announces: once("issue.time_deleted"),
  },
  repoTrackedTimes: {
    request: async (world) => {
      await world.time();
      return { path: await world.repoPath() };
    },
    variants: async (world) => [
      { query: { user: (await world.user()).name, since: "1970-01-01T00:00:00Z" } },
    ],
  },
  userTrackedTimes: {
    request: async (world) => {
      await world.time();
      return { path: { ...(await world.repoPath()), user: (await world.user()).name } };
    },
  },
  userCurrentTrackedTimes: {
    request: async (world) => {
      await world.time();
      return {};
    },
    variants: async () => [{ query: { since: "1970-01-01T00:00:00Z", page: "2", limit: "3" } }],
  },
});
