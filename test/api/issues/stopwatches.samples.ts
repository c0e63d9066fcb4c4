import { defineSamples, once } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

const running = async (world: World) => {
  await world.stopwatch();
  return { path: await world.issuePath() };
};

export const samples = defineSamples({
  issueStartStopWatch: {
    request: async (world) => ({ path: await world.issuePath() }),
    announces: once("issue.stopwatch_started"),
  },
  issueStopStopWatch: { request: running, announces: once("issue.time_added") },
  issueDeleteStopWatch: { request: running, announces: once("issue.stopwatch_cancelled") },
  userGetStopWatches: {
    request: async (world) => {
      await world.stopwatch();
      return {};
    },
  },
});
