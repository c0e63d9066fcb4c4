import { defineSamples } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  repoGetArchive: {
    request: async (world) => ({
      path: { ...(await world.codePath()), archive: "some/branch.tar.gz" },
    }),
  },
  repoGetTarball: {
    request: async (world) => ({ path: { ...(await world.codePath()), revision: "some/tag" } }),
  },
  repoGetZipball: {
    request: async (world) => ({ path: { ...(await world.codePath()), revision: "some/tag" } }),
  },
  repoGetBundle: {
    request: async (world) => ({ path: { ...(await world.codePath()), revision: "some/tag" } }),
  },
});
