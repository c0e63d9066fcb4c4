import { defineSamples } from "../../support/samples/sample.ts";
import { hookSamples } from "./hook-samples.ts";

export const samples = defineSamples(
  hookSamples({
    prefix: "org",
    owner: (world) => world.orgPath(),
    hook: (world) => world.orgHook(),
    delivery: (world) => world.orgDelivery(),
    testQuery: async (world) => {
      await world.orgCode();
      return { repo: (await world.orgRepo()).name };
    },
    extraRound: "it finds the repository of its query beside the webhook of its path",
  }),
);
