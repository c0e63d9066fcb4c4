import { makeImportRow } from "../../support/imports.ts";
import { defineSamples, NOTHING } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

const ofMigrated = async (world: World) => {
  await makeImportRow(await world.repo());
  return { path: await world.repoPath() };
};

export const samples = defineSamples({
  repoGetMigration: { request: ofMigrated },
  repoContinueMigration: {
    request: async (world) => {
      await makeImportRow(await world.repo(), { state: "cancelled", dueAt: null });
      return { path: await world.repoPath(), json: {} };
    },
    announces: NOTHING,
  },
  repoCancelMigration: { request: ofMigrated, announces: NOTHING },
});
