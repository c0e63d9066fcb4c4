import { eq, sql, type SQL } from "drizzle-orm";

import { seesAccount } from "../../../auth/access/accounts.ts";
import { organizationFacts, type OrganizationFacts } from "../../../auth/access/organizations.ts";
import type { Actor } from "../../../auth/actor.ts";
import {
  callerArgument,
  type CallerArgument,
  type CallerSql,
  toCallerSql,
} from "../../../auth/caller-sql.ts";
import type { Ctx } from "../../../context.ts";
import { columnsOf, type Database } from "../../../db/db.ts";
import { lowered } from "../../../db/ids-of-names.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { userRedirects, users, type User } from "../../../db/schema/index.ts";

/** A queried user or organization with the caller's membership in it. */
export interface AccountRow extends OrganizationFacts {
  account: User;
}

/** Selects accounts and, for organizations, the caller's membership. */
export function selectAccounts(db: Database, who: CallerSql) {
  return db
    .select({ account: columnsOf(users, "a"), ...organizationFacts(who.actorId) })
    .from(users)
    .$dynamic();
}

export const isAccountNamed = (name: string | SQL): SQL => eq(users.lowerName, lowered(name));

/** Matches the account that formerly had this name. */
export const wasAccountNamed = (name: string | SQL): SQL => sql`${users.id} = (
  select ${userRedirects.userId}
  from ${userRedirects}
  where ${userRedirects.lowerName} = ${lowered(name)}
)`;

type NamedParams = Params<{ caller: CallerArgument; name: string }>;

const accountsNamed = prepare((db, { caller, name }: NamedParams) =>
  selectAccounts(db, toCallerSql(caller)).where(isAccountNamed(name)),
);

const accountsOfName = prepare((db, { caller, name }: NamedParams) =>
  selectAccounts(db, toCallerSql(caller)).where(isOrWasNamed(name)),
);

/** Selects the account of a name. */
export const selectAccountNamed = (db: Database, caller: CallerArgument, name: string) =>
  accountsNamed(db, { caller, name: name.toLowerCase() });

/**
 * Selects the account that has a name and the one that formerly had it, for `chooseAccountRow`.
 *
 * SECURITY: both in one query. A second query for a name that no account has would reveal, by its
 * time, which names hidden accounts have.
 */
export const selectAccountsOfName = (db: Database, caller: CallerArgument, name: string) =>
  accountsOfName(db, { caller, name: name.toLowerCase() });

/** The caller's rights in an organization. */
export type Membership = OrganizationFacts;

/**
 * Resolves the caller's membership in an organization. Site administrators count as owners of every
 * one.
 */
export function toMembership(actor: Actor, row: AccountRow): Membership {
  return {
    isMember: row.isMember || actor.isSiteAdmin,
    isOwner: row.isOwner || actor.isSiteAdmin,
    canCreateRepository: row.canCreateRepository || actor.isSiteAdmin,
  };
}

/** Finds an organization visible to the caller with the caller's membership, or undefined. */
export async function findMembership(
  ctx: Ctx,
  name: string,
): Promise<{ account: User; membership: Membership } | undefined> {
  const [row] = await selectAccountNamed(ctx.db, callerArgument(ctx.actor), name);
  const isFound = row?.account.kind === "organization" && isSeen(ctx.actor, row);
  return isFound ? { account: row.account, membership: toMembership(ctx.actor, row) } : undefined;
}

export const isSeen = (actor: Actor, row: AccountRow): boolean =>
  seesAccount(actor, row.account, row.isMember);

/** Finds an account visible to the caller by its current or a former name, or undefined. */
export const findSeenAccount = async (ctx: Ctx, name: string): Promise<User | undefined> =>
  (await findSeenAccountRow(ctx, name))?.account;

/** The same with the caller's membership in it. */
export async function findSeenAccountRow(ctx: Ctx, name: string): Promise<AccountRow | undefined> {
  const rows = await selectAccountsOfName(ctx.db, callerArgument(ctx.actor), name);
  return chooseAccountRow(ctx.actor, name, rows);
}

/** Matches the account that has this name, and the one that formerly had it. */
export const isOrWasNamed = (name: SQL): SQL =>
  sql`(${isAccountNamed(name)} or ${wasAccountNamed(name)})`;

/** Whether an account has a name now. */
export const hasName = ({ account }: Pick<AccountRow, "account">, name: string): boolean =>
  account.lowerName === name.toLowerCase();

/**
 * The account among those of `selectAccountsOfName` that the name means, if the caller may see it:
 * a redirect to a hidden account would reveal it.
 */
export function chooseAccountRow<R extends AccountRow>(
  actor: Actor,
  name: string,
  rows: readonly R[],
): R | undefined {
  // The account that has the name now takes precedence over the one that had it formerly.
  const row = rows.find((each) => hasName(each, name)) ?? rows[0];
  return row && isSeen(actor, row) ? row : undefined;
}
