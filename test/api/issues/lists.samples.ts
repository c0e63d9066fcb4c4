import { defineSamples } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  issueListIssues: {
    request: async (world) => {
      const { index: _, ...path } = await world.issuePath();
      return { path };
    },
  },
});
