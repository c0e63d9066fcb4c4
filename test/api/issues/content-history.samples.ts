import { contentVersions } from "../../../src/db/schema/index.ts";
import { db } from "../../support/db.ts";
import { defineSamples } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

/** Stores a version of the issue and one of its comment. */
async function storeVersions(world: World) {
  const { id: issueId, posterId: editorId } = await world.issue();
  const { id: entryId } = await world.comment();
  const version = { issueId, editorId, body: "a former text", createdAt: 1000 };
  await db.insert(contentVersions).values([version, { ...version, entryId }]);
}

export const samples = defineSamples({
  issueGetHistory: {
    request: async (world) => {
      await storeVersions(world);
      return { path: await world.issuePath() };
    },
  },
  issueGetCommentHistory: {
    request: async (world) => {
      await storeVersions(world);
      return { path: await world.commentPath() };
    },
  },
});
