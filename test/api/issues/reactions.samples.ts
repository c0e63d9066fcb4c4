import { reactions } from "../../../src/db/schema/index.ts";
import { db } from "../../support/db.ts";
import { defineSamples, once } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

const json = { content: "heart" };

/** Stores a reaction of the user to the issue and one to its comment. */
async function storeReactions(world: World) {
  const { id: issueId } = await world.issue();
  const [{ id: entryId }, { id: userId }] = [await world.comment(), await world.user()];
  const reaction = { issueId, userId, ...json, createdAt: 1000 };
  await db
    .insert(reactions)
    .values([reaction, { ...reaction, entryId }])
    .onConflictDoNothing();
}

const ofIssue = async (world: World) => {
  await storeReactions(world);
  return world.issuePath();
};

const ofComment = async (world: World) => {
  await storeReactions(world);
  return world.commentPath();
};

export const samples = defineSamples({
  issueGetIssueReactions: { request: async (world) => ({ path: await ofIssue(world) }) },
  issuePostIssueReaction: {
    request: async (world) => ({ path: await world.issuePath(), json }),
    announces: once(),
  },
  issueDeleteIssueReaction: {
    request: async (world) => ({ path: await ofIssue(world), json }),
    announces: once(),
  },
  issueGetCommentReactions: {
    request: async (world) => ({ path: await ofComment(world) }),
    variants: async () => [{ query: { page: "1" } }],
  },
  issuePostCommentReaction: {
    request: async (world) => ({ path: await world.commentPath(), json }),
    announces: once(),
  },
  issueDeleteCommentReaction: {
    request: async (world) => ({ path: await ofComment(world), json }),
    announces: once(),
  },
});
