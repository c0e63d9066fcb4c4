import { defineSamples, once } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  listPackages: {
    request: async (world) => {
      await world.package();
      return { path: { owner: (await world.user()).name } };
    },
    variants: async () => [
      { query: { type: "generic", q: "pkg" } },
      { query: { type: "no-such-type" } },
    ],
  },
  listPackageVersions: {
    request: async (world) => ({ path: await world.packagePath() }),
  },
  getLatestPackageVersion: {
    request: async (world) => ({ path: await world.packagePath() }),
  },
  getPackage: {
    request: async (world) => ({ path: await world.packageVersionPath() }),
  },
  deletePackage: {
    request: async (world) => ({ path: await world.packageVersionPath() }),
    announces: once("package.deleted"),
  },
  listPackageFiles: {
    request: async (world) => ({ path: await world.packageVersionPath() }),
    variants: async () => [{ query: { page: "1", limit: "1" } }],
  },
});
