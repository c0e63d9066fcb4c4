import { defineSamples } from "../../support/samples/sample.ts";
import { hookSamples } from "./hook-samples.ts";

export const samples = defineSamples(
  hookSamples({
    prefix: "admin",
    owner: async () => ({}),
    as: async (world) => ({ as: await world.admin() }),
    hook: (world) => world.siteHook(),
    delivery: (world) => world.siteDelivery(),
    testQuery: async (world) => {
      const { owner, repo } = await world.codePath();
      return { repo: `${owner}/${repo}` };
    },
    extraRound: "it finds the repository of its query beside the webhook of its path",
    config: { is_system_webhook: "true" },
    listVariants: [{ query: { type: "all" } }],
  }),
);
