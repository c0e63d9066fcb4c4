import { defineSamples, once } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  adminGetQuota: {
    request: async (world) => ({ as: await world.admin(), path: await world.userPath() }),
  },
  adminEditQuota: {
    request: async (world) => ({
      as: await world.admin(),
      path: await world.userPath(),
      json: { repositories: 5, bytes: 1_000_000_000, tokens: 50 },
    }),
    announces: once("user.edited"),
    extraRound: "the answer adds up what the account stores by then",
  },
});
