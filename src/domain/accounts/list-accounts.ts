import { asc, count, eq, sql, type SQL } from "drizzle-orm";

import { isAccountVisible } from "../../auth/access/accounts.ts";
import { principalOf } from "../../auth/principal.ts";
import type { Ctx } from "../../context.ts";
import { allOf, columnsOf } from "../../db/db.ts";
import { follows, users, type User } from "../../db/schema/index.ts";
import type { Listed, Slice } from "../slice.ts";

/** Lists the followers of an account that are visible to the caller, by name. */
export const listFollowers = (ctx: Ctx, followed: User, slice: Slice) =>
  listAccountsIn(
    ctx,
    sql`(
      select ${follows.followerId} from ${follows} where ${follows.followedId} = ${followed.id}
    )`,
    slice,
  );

/** Lists the accounts a user follows that are visible to the caller, by name. */
export const listFollowing = (ctx: Ctx, follower: User, slice: Slice) =>
  listAccountsIn(
    ctx,
    sql`(
      select ${follows.followedId} from ${follows} where ${follows.followerId} = ${follower.id}
    )`,
    slice,
  );

/** Lists the accounts of a set of ids that are visible to the caller, by name. */
export async function listAccountsIn(ctx: Ctx, ids: SQL, slice: Slice): Promise<Listed<User>> {
  const isListed = allOf(sql`${users.id} in ${ids}`, isAccountVisible(principalOf(ctx.actor)));
  return listAccountsWhere(ctx, isListed, slice);
}

/**
 * Lists the accounts of a set of ids, including private ones: for callers in the same organization or team.
 * A token limited to public resources lists public accounts only.
 */
export const listAllAccountsIn = (ctx: Ctx, ids: SQL, slice: Slice): Promise<Listed<User>> =>
  ctx.actor.scopes.isPublicOnly
    ? listAccountsIn(ctx, ids, slice)
    : listAccountsWhere(ctx, sql`${users.id} in ${ids}`, slice);

/** Lists the accounts that match a condition, by name, with an exact total. */
export async function listAccountsWhere(
  ctx: Ctx,
  isListed: SQL,
  { size, offset }: Slice,
): Promise<Listed<User>> {
  const [rows, [counted]] = await ctx.db.batch([
    ctx.db
      .select({ user: columnsOf(users, "u") })
      .from(users)
      .where(isListed)
      .orderBy(asc(users.lowerName))
      .limit(size)
      .offset(offset),
    ctx.db
      .select({ total: count().as("total") })
      .from(users)
      .where(isListed),
  ]);
  return { items: rows.map(({ user }) => user), total: counted?.total ?? 0 };
}

/**
 * Whether `follower` follows an account visible to the caller.
 *
 * @param isFollowed Matches the followed account.
 */
export async function isFollowing(ctx: Ctx, follower: User, isFollowed: SQL): Promise<boolean> {
  const rows = await ctx.db
    .select({ id: follows.followedId })
    .from(follows)
    .innerJoin(users, eq(users.id, follows.followedId))
    .where(
      allOf(
        eq(follows.followerId, follower.id),
        isFollowed,
        isAccountVisible(principalOf(ctx.actor)),
      ),
    );
  return rows.length > 0;
}
