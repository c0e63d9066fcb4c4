import { defineSamples } from "../../support/samples/sample.ts";
import { hookSamples } from "./hook-samples.ts";

export const samples = defineSamples(
  hookSamples({
    prefix: "user",
    owner: async () => ({}),
    hook: (world) => world.userHook(),
    delivery: (world) => world.userDelivery(),
    testQuery: async (world) => ({ repo: (await world.codePath()).repo }),
    extraRound: "it finds the repository of its query beside the webhook of its path",
  }),
);
