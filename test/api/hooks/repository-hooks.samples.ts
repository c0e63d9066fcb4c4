import { defineSamples } from "../../support/samples/sample.ts";
import { hookSamples } from "./hook-samples.ts";

export const samples = defineSamples(
  hookSamples({
    prefix: "repo",
    owner: (world) => world.repoPath(),
    hook: (world) => world.repoHook(),
    delivery: (world) => world.repoDelivery(),
    testQuery: async (world) => {
      await world.code();
      return {};
    },
  }),
);
