import { asc, count, eq, sql, type SQL } from "drizzle-orm";

import { isAccountVisible } from "../../../auth/access/accounts.ts";
import { blockedUserIds } from "../../../auth/access/blocks.ts";
import {
  knownOrganizationIds,
  memberIds,
  organizationIds,
} from "../../../auth/access/organizations.ts";
import { idOfTeam, teamMemberIds } from "../../../auth/access/teams.ts";
import { seesPublicOnly } from "../../../auth/actor.ts";
import { type Principal, principalOf } from "../../../auth/principal.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { allOf, anyOf, columnsOf, type Database } from "../../../db/db.ts";
import { type Params, prepare, prepareAll } from "../../../db/prepared.ts";
import { follows, users, type User } from "../../../db/schema/index.ts";
import { type Listed, type CountedPage, type Slice, toListedPage } from "../../slice.ts";
import { isAccountNamed, wasAccountNamed } from "./find-account.ts";

/** A team of an organization, by its name in any case. */
export interface TeamName {
  readonly orgId: number;
  readonly name: string;
}

/** Whose ids form a set of accounts, as an argument of a query. */
export type AccountSet =
  | { readonly followersOf: number }
  | { readonly followedBy: number }
  | { readonly blockedBy: number }
  | { readonly membersOf: number; readonly isPublicOnly: boolean }
  | { readonly membersOfTeam: number }
  | { readonly membersOfTeamNamed: TeamName }
  | { readonly organizationsOf: number; readonly isPublicOnly: boolean }
  /**
   * The organizations of a user that a viewer may know of; undefined for a viewer without an
   * account.
   */
  | { readonly knownOrganizationsOf: number; readonly viewerId: number | undefined };

/** Selects the ids of a set. */
function idsOf(set: Params<AccountSet>): SQL {
  if ("followersOf" in set) {
    return sql`(
      select ${follows.followerId} from ${follows} where ${follows.followedId} = ${set.followersOf}
    )`;
  }
  if ("followedBy" in set) {
    return sql`(
      select ${follows.followedId} from ${follows} where ${follows.followerId} = ${set.followedBy}
    )`;
  }
  if ("blockedBy" in set) return blockedUserIds(set.blockedBy);
  if ("membersOf" in set) return memberIds(set.membersOf, set.isPublicOnly);
  if ("membersOfTeam" in set) return teamMemberIds(set.membersOfTeam);
  if ("membersOfTeamNamed" in set) {
    const { orgId, name } = set.membersOfTeamNamed;
    return teamMemberIds(idOfTeam(orgId, name));
  }
  if ("organizationsOf" in set) return organizationIds(set.organizationsOf, set.isPublicOnly);
  return knownOrganizationIds(set.knownOrganizationsOf, set.viewerId);
}

/**
 * Lists the organizations of a user whose membership the caller may see, by name: a private
 * membership is visible to the member, fellow members and administrators.
 */
export const listOrganizationsOf = (ctx: Ctx, { id }: User, slice: Slice) => {
  const { actor } = ctx;
  // SECURITY: a token for public resources knows of no private membership, its user's included.
  const viewerId = seesPublicOnly(actor) ? undefined : actor.user?.id;
  const listed =
    actor.isSiteAdmin || viewerId === id
      ? { organizationsOf: id, isPublicOnly: false }
      : { knownOrganizationsOf: id, viewerId };
  return listAccountsIn(ctx, listed, slice);
};

/** Lists the followers of an account that are visible to the caller, by name. */
export const listFollowers = (ctx: Ctx, followed: User, slice: Slice) =>
  listAccountsIn(ctx, { followersOf: followed.id }, slice);

/** Lists the accounts a user follows that are visible to the caller, by name. */
export const listFollowing = (ctx: Ctx, follower: User, slice: Slice) =>
  listAccountsIn(ctx, { followedBy: follower.id }, slice);

/** Lists the accounts of a set that are visible to the caller, by name. */
export const listAccountsIn = (ctx: Ctx, set: AccountSet, slice: Slice): Promise<Listed<User>> =>
  listSet(ctx, set, principalOf(ctx.actor), slice);

/**
 * Lists the accounts of a set, including private ones: for callers in the same organization or
 * team. A token limited to public resources lists public accounts only.
 */
export const listAllAccountsIn = (ctx: Ctx, set: AccountSet, slice: Slice): Promise<Listed<User>> =>
  ctx.actor.scopes.isPublicOnly
    ? listAccountsIn(ctx, set, slice)
    : listSet(ctx, set, undefined, slice);

/** @param principal Who sees the listed accounts; all are listed if undefined. */
const listSet = async (
  { db }: Ctx,
  set: AccountSet,
  principal: Principal | undefined,
  { size, offset }: Slice,
): Promise<Listed<User>> =>
  toAccountList(await batch(db, pageOfSet(db, { set, principal, size, offset })));

type SetPage = Slice & { readonly set: AccountSet; readonly principal: Principal | undefined };

const pageOfSet = prepareAll((db, p: Params<SetPage>) =>
  selectAccountPage(
    db,
    allOf(sql`${users.id} in ${idsOf(p.set)}`, p.principal && isAccountVisible(p.principal)),
    p,
  ),
);

/**
 * Finds an account by name within a set, including private accounts: for callers that may list the
 * set. A token limited to public resources finds public accounts only.
 */
export async function findAccountIn(
  ctx: Ctx,
  set: AccountSet,
  name: string,
): Promise<User | undefined> {
  const [account] = await accountOfSet(ctx.db, { set, name: name.toLowerCase() });
  const isHidden = ctx.actor.scopes.isPublicOnly && account?.visibility !== "public";
  return isHidden ? undefined : account;
}

const accountOfSet = prepare((db, { set, name }: Params<{ set: AccountSet; name: string }>) =>
  db
    .select()
    .from(users)
    .where(allOf(sql`${users.id} in ${idsOf(set)}`, isAccountNamed(name))),
);

/** Selects a page of the accounts that match a condition, by name, and their exact total. */
export const selectAccountPage = (db: Database, isListed: SQL, slice: Params<Slice>) => ({
  rows: selectAccountRows(db, isListed, slice),
  counted: db
    .select({ total: count().as("total") })
    .from(users)
    .where(isListed),
});

/** Selects a page of the accounts that match a condition, by name. */
export const selectAccountRows = (db: Database, isListed: SQL, { size, offset }: Params<Slice>) =>
  db
    .select({ user: columnsOf(users, "u") })
    .from(users)
    .where(isListed)
    .orderBy(asc(users.lowerName))
    .limit(size)
    .offset(offset);

/** The list of the rows of `selectAccountPage`. */
export const toAccountList = (page: CountedPage<{ user: User }>): Listed<User> =>
  toListedPage(page, ({ user }) => user);

/** An account that may be followed: by its id, or by its name or a former one. */
type Followed = { readonly id: number } | { readonly name: string };

/** Whether `follower` follows an account visible to the caller. */
export async function isFollowing(ctx: Ctx, follower: User, followed: Followed): Promise<boolean> {
  const rows = await followOf(ctx.db, {
    followerId: follower.id,
    followed: "id" in followed ? followed : { name: followed.name.toLowerCase() },
    principal: principalOf(ctx.actor),
  });
  return rows.length > 0;
}

interface FollowKey {
  readonly followerId: number;
  readonly followed: Followed;
  readonly principal: Principal;
}

const followOf = prepare((db, { followerId, followed, principal }: Params<FollowKey>) => {
  const isFollowed =
    "id" in followed
      ? eq(users.id, followed.id)
      : anyOf(isAccountNamed(followed.name), wasAccountNamed(followed.name));
  return db
    .select({ id: follows.followedId })
    .from(follows)
    .innerJoin(users, eq(users.id, follows.followedId))
    .where(allOf(eq(follows.followerId, followerId), isFollowed, isAccountVisible(principal)));
});
