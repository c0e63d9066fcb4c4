import { eq, sql, type SQL } from "drizzle-orm";

import { seesAccount } from "../../auth/access/accounts.ts";
import { organizationFacts, type OrganizationFacts } from "../../auth/access/organizations.ts";
import type { Actor } from "../../auth/actor.ts";
import { identified, type Unidentified } from "../../auth/identify.ts";
import type { Ctx } from "../../context.ts";
import { allOf, columnsOf, type Database } from "../../db/db.ts";
import { userRedirects, users, type User } from "../../db/schema/index.ts";

/** A user or organization as a query brings it, with the caller's part in it. */
export interface AccountRow extends OrganizationFacts {
  account: User;
}

/** Selects accounts and, for organizations, what the caller is there. */
export function selectAccounts(db: Database, who: Unidentified) {
  return db
    .select({ account: columnsOf(users, "a"), ...organizationFacts(who.actorId) })
    .from(users)
    .$dynamic();
}

export const isAccountNamed = (name: string): SQL => eq(users.lowerName, name.toLowerCase());

/** The condition for an account that had this name before. */
export const wasAccountNamed = (name: string): SQL =>
  sql`${users.id} = (
    select ${userRedirects.userId} from ${userRedirects}
    where ${userRedirects.lowerName} = ${name.toLowerCase()}
  )`;

/** What the caller may do in an organization. */
export type Membership = OrganizationFacts;

/** The caller's part in an organization; administrators own every one. */
export function toMembership(actor: Actor, row: AccountRow): Membership {
  return {
    isMember: row.isMember || actor.isSiteAdmin,
    isOwner: row.isOwner || actor.isSiteAdmin,
    canCreateRepository: row.canCreateRepository || actor.isSiteAdmin,
  };
}

/** An organization that the caller may see, with their part in it; undefined where there is none. */
export async function findMembership(
  ctx: Ctx,
  name: string,
): Promise<{ account: User; membership: Membership } | undefined> {
  const [row] = await selectAccounts(ctx.db, identified(ctx.actor)).where(isAccountNamed(name));
  const isFound = row?.account.kind === "organization" && isSeen(ctx.actor, row);
  return isFound ? { account: row.account, membership: toMembership(ctx.actor, row) } : undefined;
}

export const isSeen = (actor: Actor, row: AccountRow): boolean =>
  seesAccount(actor, row.account, row.isMember);

/** The account of a name among a set of ids, also one that hides: for callers who know the set. */
export async function findAccountIn(ctx: Ctx, ids: SQL, name: string): Promise<User | undefined> {
  const isFound = allOf(sql`${users.id} in ${ids}`, isAccountNamed(name));
  const [account] = await ctx.db.select().from(users).where(isFound);
  const isHidden = ctx.actor.scopes.isPublicOnly && account?.visibility !== "public";
  return isHidden ? undefined : account;
}

/** The account of a name that the caller may see, by an earlier name too; undefined where there is none. */
export async function findSeenAccount(ctx: Ctx, name: string): Promise<User | undefined> {
  const isNamed = sql`(${isAccountNamed(name)} or ${wasAccountNamed(name)})`;
  const rows = await selectAccounts(ctx.db, identified(ctx.actor)).where(isNamed);
  // Whoever has the name now comes before whoever had it.
  const row = rows.find(({ account }) => account.lowerName === name.toLowerCase()) ?? rows[0];
  return row && isSeen(ctx.actor, row) ? row.account : undefined;
}
