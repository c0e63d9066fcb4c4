import { eq, gt, sql, type SQL } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import { isAccountVisible } from "../../../auth/access/accounts.ts";
import { seesPublicOnly, type Actor } from "../../../auth/actor.ts";
import { type Principal, principalOf } from "../../../auth/principal.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { allOf, anyOf, type Database, quotePhrase } from "../../../db/db.ts";
import { selectTotal } from "../../../db/select-total.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { usersSearch } from "../../../db/search-indexes.ts";
import { users, type User } from "../../../db/schema/index.ts";
import type { Listed, Slice } from "../../slice.ts";
import { selectAccountPage, selectAccountRows, toAccountList } from "./list-accounts.ts";

/** Maximum index matches considered, which bounds the cost of a common word. */
const MATCH_MAX = 1000;
/** Maximum total counted for a list without a search text. */
const TOTAL_MAX = 10_000;
/** Minimum characters of a text for the trigram index. */
const INDEXED_MIN = 3;

/**
 * Searches the users visible to the caller by a substring of their login name, full name or an
 * address that responses show to the caller, ordered by name. The number of rows read does not grow
 * with the table: see `searchRepositories`.
 *
 * @param userId Restricts the search to this user.
 */
export async function searchUsers(
  ctx: Ctx,
  text: string,
  userId: number | undefined,
  slice: Slice,
): Promise<Listed<User>> {
  const lower = text.toLowerCase();
  // The full-text index ignores a text after its first NUL.
  if (lower.includes("\0")) return { items: [], total: 0 };
  const { db, actor } = ctx;
  const search = toSearch(actor, lower, userId !== undefined);
  const { size, offset } = slice;
  const found = { principal: principalOf(actor), userId, search, size, offset };
  return toAccountList(await batch(db, usersFound(db, found)));
}

/** A text in lower case that users are searched by; without one all are listed. */
type Search =
  /** The phrase is for the full-text index; the address is that of the caller. */
  | { readonly phrase: string; readonly inOwnAddress: string }
  | { readonly from: string; readonly to: string }
  | { readonly part: string };

function toSearch(actor: Actor, lower: string, isOfOneUser: boolean): Search | undefined {
  if ([...lower].length >= INDEXED_MIN) {
    const phrase = `{${searchedColumns(actor)}} : ${quotePhrase(lower)}`;
    return { phrase, inOwnAddress: lower };
  }
  if (isOfOneUser) return { part: lower };
  // Texts that are too short for the index match the beginning of login names.
  return lower === "" ? undefined : { from: lower, to: `${lower}\u{10ffff}` };
}

interface Found extends Slice {
  readonly principal: Principal;
  readonly userId: number | undefined;
  readonly search: Search | undefined;
}

const usersFound = prepareAll((db, p: Params<Found>) => {
  const isUser = allOf(
    eq(users.kind, "user"),
    isAccountVisible(p.principal),
    p.userId && eq(users.id, p.userId),
  );
  return p.search
    ? selectAccountPage(db, allOf(isUser, isFound(p.search, p)), p)
    : selectSome(db, isUser, p);
});

function isFound(search: Params<Search>, p: Params<Found>): SQL {
  if ("phrase" in search) return byText(search, p);
  if ("from" in search) return byPrefix(search);
  const { part } = search;
  return sql`(instr(${users.lowerName}, ${part}) or instr(lower(${users.fullName}), ${part}))`;
}

/** The full-text index folds the case of every alphabet; SQLite's own functions fold ASCII only. */
function byText(
  { phrase, inOwnAddress }: Params<{ phrase: string; inOwnAddress: string }>,
  { principal, userId }: Params<Found>,
): SQL {
  const isThis = userId ? eq(usersSearch.rowid, userId) : sql`1`;
  return anyOf(
    sql`${users.id} in (
      select ${usersSearch.rowid}
      from ${usersSearch}
      where ${usersSearch} match ${phrase} and ${isThis}
      order by ${usersSearch.rowid} desc
      limit ${MATCH_MAX}
    )`,
    hasOwnAddress(principal, inOwnAddress),
  );
}

/**
 * The columns of the index that the caller searches.
 *
 * SECURITY: an address that responses hide from the caller must not be searched, or its letters
 * could be guessed.
 */
function searchedColumns(actor: Actor): string {
  if (seesPublicOnly(actor)) return "name full_name";
  return actor.isSiteAdmin ? "name full_name email hidden_email" : "name full_name email";
}

/** Matches the caller, whose own address may be hidden from others. */
function hasOwnAddress({ userId, isPublicOnly }: Params<Principal>, text: SQL): SQL | undefined {
  if (userId === undefined || isPublicOnly) return undefined;
  return sql`(${users.id} = ${userId} and instr(lower(${users.email}), ${text}))`;
}

const found = alias(users, "found");

const byPrefix = ({ from, to }: Params<{ from: string; to: string }>): SQL => sql`${users.id} in (
  select ${found.id}
  from ${users} ${found}
  where ${found.lowerName} >= ${from} and ${found.lowerName} < ${to}
  limit ${MATCH_MAX}
)`;

/** Selects a page of the users that match a condition, and their total up to `TOTAL_MAX`. */
function selectSome(db: Database, isUser: SQL, slice: Params<Slice>) {
  const some = sql`(select 1 from ${users} where ${isUser} limit ${TOTAL_MAX})`;
  return {
    rows: selectAccountRows(db, isUser, slice),
    counted: selectTotal(db, sql`(select count(*) from ${some})`),
  };
}

/** Restricts a list of users; what is undefined does not. */
interface UserFilter {
  readonly sourceId: number | undefined;
  /** The name at the login source. */
  readonly loginName: string | undefined;
}

/** Lists all users by name, for administrators of the site; not the account of jobs. */
export const listUsers = async (
  { db }: Ctx,
  filter: UserFilter,
  { size, offset }: Slice,
): Promise<Listed<User>> =>
  toAccountList(await batch(db, usersOfFilter(db, { ...filter, size, offset })));

const usersOfFilter = prepareAll((db, p: Params<UserFilter & Slice>) => {
  const isListed = allOf(
    eq(users.kind, "user"),
    gt(users.id, 0),
    p.sourceId && eq(users.loginSourceId, p.sourceId),
    p.loginName && eq(users.loginName, p.loginName),
  );
  return selectAccountPage(db, isListed, p);
});

/** Which accounts administrators look for, with the condition that an index has. */
const STATUSES = {
  admin: sql`${users.isAdmin} = 1`,
  inactive: sql`${users.isActive} = 0`,
  restricted: sql`${users.isRestricted} = 1`,
  prohibited: sql`${users.isLoginProhibited} = 1`,
} as const;

export type UserStatus = keyof typeof STATUSES;

export const isUserStatus = (text: string): text is UserStatus => Object.hasOwn(STATUSES, text);

/** Lists the users of a status by name, for administrators of the service. */
export const listUsersOfStatus = async (
  { db }: Ctx,
  status: UserStatus,
  { size, offset }: Slice,
): Promise<Listed<User>> =>
  toAccountList(await batch(db, usersOfStatus(db, { size, offset }, status)));

const usersOfStatus = prepareAll((db, slice: Params<Slice>, status: UserStatus) =>
  selectAccountPage(db, allOf(STATUSES[status], eq(users.kind, "user")), slice),
);
