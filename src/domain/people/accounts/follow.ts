import { and, eq } from "drizzle-orm";

import { asBlocked, isBlockBetween, unlessBlocked } from "../../../auth/access/blocks.ts";
import type { Ctx } from "../../../context.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { follows, type User } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";

/**
 * Follows an account. Following it again, or following oneself, changes nothing.
 *
 * @throws Failure `forbidden` where one of the two blocks the other.
 */
export async function createFollow(ctx: Ctx, follower: User, followed: User): Promise<void> {
  if (follower.id === followed.id) return;
  const row = { followerId: follower.id, followedId: followed.id, now: ctx.now };
  try {
    await ctx.db.batch([
      insertFollow(ctx.db, row),
      recordIfChanged(ctx, { type: "follow.created", ownerId: followed.id }),
    ]);
  } catch (error) {
    throw asBlocked(error, "follows.follower_id");
  }
}

interface NewFollow {
  readonly followerId: number;
  readonly followedId: number;
  readonly now: number;
}

const insertFollow = prepare((db, { followerId, followedId, now }: Params<NewFollow>) => {
  const isBlocked = isBlockBetween(followerId, followedId);
  return db
    .insert(follows)
    .values({ followerId: unlessBlocked(isBlocked, followerId), followedId, createdAt: now })
    .onConflictDoNothing();
});

/** Unfollows an account. Changes nothing if `follower` does not follow it. */
export async function deleteFollow(ctx: Ctx, follower: User, followed: User): Promise<void> {
  await ctx.db.batch([
    removeFollow(ctx.db, { followerId: follower.id, followedId: followed.id }),
    recordIfChanged(ctx, { type: "follow.deleted", ownerId: followed.id }),
  ]);
}

const removeFollow = prepare((db, p: Params<Omit<NewFollow, "now">>) =>
  db
    .delete(follows)
    .where(and(eq(follows.followerId, p.followerId), eq(follows.followedId, p.followedId))),
);
