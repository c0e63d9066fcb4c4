import { defineSamples } from "../../support/samples/sample.ts";

const FILTER = { since: "2020-01-01T00:00:00Z", before: "2100-01-01T00:00:00Z" };

export const samples = defineSamples({
  adminListAudit: {
    request: async (world) => ({ as: await world.admin() }),
    variants: async (world) => {
      const { name: actor } = await world.user();
      return [
        { query: { actor, order: "desc" } },
        { query: { owner: actor } },
        { query: { kind: "user.created", ...FILTER } },
        { query: { ...FILTER, order: "desc", after: "100" } },
      ];
    },
  },
});
