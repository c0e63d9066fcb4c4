import { asc, count, eq, sql, type SQL } from "drizzle-orm";

import { isAccountVisible } from "../../auth/access/accounts.ts";
import { type Principal, principalOf } from "../../auth/principal.ts";
import type { Ctx } from "../../context.ts";
import { allOf, columnsOf, type Database } from "../../db/db.ts";
import { type Params, prepareAll } from "../../db/prepared.ts";
import { follows, users, type User } from "../../db/schema/index.ts";
import type { Listed, Slice } from "../slice.ts";

/** Lists the followers of an account that are visible to the caller, by name. */
export const listFollowers = (ctx: Ctx, followed: User, slice: Slice) =>
  listFollows(ctx, followed, "followed", slice);

/** Lists the accounts a user follows that are visible to the caller, by name. */
export const listFollowing = (ctx: Ctx, follower: User, slice: Slice) =>
  listFollows(ctx, follower, "follower", slice);

async function listFollows(
  { db, actor }: Ctx,
  { id }: User,
  side: Side,
  { size, offset }: Slice,
): Promise<Listed<User>> {
  const args = { principal: principalOf(actor), id, size, offset };
  return toListed(await db.batch(followsOf(db, args, { side })));
}

/** As what an account counts whose follows are listed. */
type Side = "followed" | "follower";

const followsOf = prepareAll(
  (
    db,
    { principal, id, ...slice }: Params<Slice & { principal: Principal; id: number }>,
    { side }: { side: Side },
  ) => {
    const { followerId, followedId } = follows;
    const [listed, given] =
      side === "followed" ? [followerId, followedId] : [followedId, followerId];
    const ids = sql`(select ${listed} from ${follows} where ${given} = ${id})`;
    return selectAccountPage(
      db,
      allOf(sql`${users.id} in ${ids}`, isAccountVisible(principal)),
      slice,
    );
  },
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
  slice: Slice,
): Promise<Listed<User>> {
  return toListed(await ctx.db.batch(selectAccountPage(ctx.db, isListed, slice)));
}

/** Selects a page of the accounts that match a condition, by name, and their exact total. */
const selectAccountPage = (db: Database, isListed: SQL, { size, offset }: Slice | Params<Slice>) =>
  [
    db
      .select({ user: columnsOf(users, "u") })
      .from(users)
      .where(isListed)
      .orderBy(asc(users.lowerName))
      .limit(size)
      .offset(offset),
    db
      .select({ total: count().as("total") })
      .from(users)
      .where(isListed),
  ] as const;

/** The list of the rows of `selectAccountPage`. */
const toListed = ([rows, [counted]]: readonly [
  readonly { user: User }[],
  readonly { total: number }[],
]): Listed<User> => ({ items: rows.map(({ user }) => user), total: counted?.total ?? 0 });

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
