import { defineSamples } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  repoGetEditorConfig: {
    request: async (world) => ({
      path: { ...(await world.codePath()), filepath: "file" },
      query: { ref: "settings" },
    }),
  },
});
