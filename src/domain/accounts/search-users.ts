import { asc, eq, sql, type SQL } from "drizzle-orm";

import { isAccountVisible } from "../../auth/access/accounts.ts";
import { seesPublicOnly, type Actor } from "../../auth/actor.ts";
import { principalOf } from "../../auth/principal.ts";
import type { Ctx } from "../../context.ts";
import { allOf, anyOf, columnsOf, quotePhrase } from "../../db/db.ts";
import { users, type User } from "../../db/schema/index.ts";
import type { Listed, Slice } from "../slice.ts";
import { listAccountsWhere } from "./list-accounts.ts";

/** Maximum index matches considered, which bounds the cost of a common word. */
const MATCH_MAX = 1000;
/** Maximum total counted for a list without a search text. */
const TOTAL_MAX = 10_000;
/** Minimum characters of a text for the trigram index. */
const INDEXED_MIN = 3;

/**
 * Searches the users visible to the caller by a substring of their login name, full name or an address that responses
 * show to the caller, ordered by name. The number of rows read does not grow with the table: see `searchRepositories`.
 *
 * @param userId Restricts the search to this user.
 */
export async function searchUsers(
  ctx: Ctx,
  text: string,
  userId: number | undefined,
  slice: Slice,
): Promise<Listed<User>> {
  const isUser = allOf(eq(users.kind, "user"), isAccountVisible(principalOf(ctx.actor)));
  const lower = text.toLowerCase();
  // The full-text index ignores a text after its first NUL.
  if (lower.includes("\0")) return { items: [], total: 0 };
  const isIndexed = [...lower].length >= INDEXED_MIN;
  if (userId !== undefined) {
    const isFound = isIndexed ? byText(ctx.actor, lower, userId) : contains(lower);
    return listAccountsWhere(ctx, allOf(isUser, eq(users.id, userId), isFound), slice);
  }
  if (lower === "") return listAll(ctx, isUser, slice);
  const isFound = isIndexed ? byText(ctx.actor, lower) : byPrefix(lower);
  return listAccountsWhere(ctx, allOf(isUser, isFound), slice);
}

const contains = (text: string): SQL =>
  sql`(instr(${users.lowerName}, ${text}) or instr(lower(${users.fullName}), ${text}))`;

/** The full-text index folds the case of every alphabet; SQLite's own functions fold ASCII only. */
function byText(actor: Actor, text: string, userId?: number): SQL {
  const phrase = `{${searchedColumns(actor)}} : ${quotePhrase(text)}`;
  const isThis = userId === undefined ? sql`1` : sql`rowid = ${userId}`;
  return anyOf(
    sql`${users.id} in (
      select rowid
      from users_search
      where users_search match ${phrase} and ${isThis}
      order by rowid desc
      limit ${MATCH_MAX}
    )`,
    hasOwnAddress(actor, text),
  );
}

/**
 * The columns of the index that the caller searches.
 *
 * SECURITY: an address that responses hide from the caller must not be searched, or its letters could be guessed.
 */
function searchedColumns(actor: Actor): string {
  if (seesPublicOnly(actor)) return "name full_name";
  return actor.isSiteAdmin ? "name full_name email hidden_email" : "name full_name email";
}

/** Matches the caller, whose own address may be hidden from others. */
function hasOwnAddress(actor: Actor, text: string): SQL | undefined {
  if (!actor.user || seesPublicOnly(actor)) return undefined;
  return sql`(${users.id} = ${actor.user.id} and instr(lower(${users.email}), ${text}))`;
}

/** Matches texts that are too short for the index against the beginning of login names. */
function byPrefix(text: string): SQL {
  return sql`${users.id} in (
    select id
    from ${users}
    where lower_name >= ${text} and lower_name < ${`${text}\u{10ffff}`}
    limit ${MATCH_MAX}
  )`;
}

async function listAll(ctx: Ctx, isUser: SQL, { size, offset }: Slice): Promise<Listed<User>> {
  const some = sql`(select 1 from ${users} where ${isUser} limit ${TOTAL_MAX})`;
  const [rows, [counted]] = await ctx.db.batch([
    ctx.db
      .select({ user: columnsOf(users, "u") })
      .from(users)
      .where(isUser)
      .orderBy(asc(users.lowerName))
      .limit(size)
      .offset(offset),
    ctx.db
      .select({ total: sql<number>`(select count(*) from ${some})`.as("total") })
      .from(sql`(select 1)`),
  ]);
  return { items: rows.map(({ user }) => user), total: counted?.total ?? 0 };
}
