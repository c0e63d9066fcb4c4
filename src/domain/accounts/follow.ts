import { and, eq, sql } from "drizzle-orm";

import { asBlocked, isBlockBetween, unlessBlocked } from "../../auth/access/blocks.ts";
import type { Ctx } from "../../context.ts";
import { follows, type User } from "../../db/schema/index.ts";
import { recordIfChanged } from "../../events/record.ts";

/**
 * Follows an account. Following it again, or following oneself, changes nothing.
 *
 * @throws Failure `forbidden` where one of the two blocks the other.
 */
export async function createFollow(ctx: Ctx, follower: User, followed: User): Promise<void> {
  if (follower.id === followed.id) return;
  const isBlocked = isBlockBetween(sql`${follower.id}`, sql`${followed.id}`);
  const followerId = unlessBlocked(isBlocked, follower.id);
  try {
    await ctx.db.batch([
      ctx.db
        .insert(follows)
        .values({ followerId, followedId: followed.id, createdAt: ctx.now })
        .onConflictDoNothing(),
      recordIfChanged(ctx, { type: "follow.created", ownerId: followed.id }),
    ]);
  } catch (error) {
    throw asBlocked(error, "follows.follower_id");
  }
}

/** Unfollows an account. Changes nothing if `follower` does not follow it. */
export async function deleteFollow(ctx: Ctx, follower: User, followed: User): Promise<void> {
  await ctx.db.batch([
    ctx.db
      .delete(follows)
      .where(and(eq(follows.followerId, follower.id), eq(follows.followedId, followed.id))),
    recordIfChanged(ctx, { type: "follow.deleted", ownerId: followed.id }),
  ]);
}
