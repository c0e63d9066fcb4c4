import { defineSamples } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  orgListAudit: {
    request: async (world) => ({ path: await world.orgPath() }),
    variants: async (world) => {
      const { name: actor } = await world.user();
      return [{ query: { actor, order: "desc" } }, { query: { since: "2020-01-01T00:00:00Z" } }];
    },
  },
});
