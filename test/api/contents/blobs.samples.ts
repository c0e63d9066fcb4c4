import { defineSamples } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  GetBlob: {
    request: async (world) => ({
      path: { ...(await world.codePath()), sha: (await world.code()).blobOid },
    }),
  },
});
