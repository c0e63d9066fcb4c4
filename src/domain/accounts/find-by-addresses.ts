import { eq, sql, type AnyColumn, type SQL } from "drizzle-orm";
import { unionAll } from "drizzle-orm/sqlite-core";

import { isAccountVisible } from "../../auth/access/accounts.ts";
import { noReplyDomain } from "../../config.ts";
import type { Ctx } from "../../context.ts";
import { allOf, anyOf, columnsOf } from "../../db/db.ts";
import { emailAddresses, users, type User } from "../../db/schema/index.ts";

/**
 * The users that addresses in commits belong to, by the address in small letters.
 *
 * Cost: one round trip.
 */
export async function findByAddresses(
  ctx: Ctx,
  addresses: readonly string[],
): Promise<Map<string, User>> {
  const owners = selectOwners(ctx, addresses);
  const rows = await ctx.db
    .select({ user: columnsOf(users, "u"), address: owners.address })
    .from(owners)
    .innerJoin(users, eq(users.id, owners.userId));
  return new Map(rows.map(({ user, address }) => [address, user]));
}

/**
 * Whose addresses are: a subquery of `address`, in small letters, and `userId`, by names of their own.
 *
 * An address of the service's own domain belongs to the account that it names, whoever added it to
 * theirs.
 *
 * SECURITY: an address that its owner hides leads to nobody but for them, and so does one of an
 * account that the caller may not see: else whoever pushes a commit learns whose address is whose.
 */
export function selectOwners(ctx: Ctx, addresses: readonly string[]) {
  const wanted = [...new Set(addresses.map((address) => address.toLowerCase()))];
  const domain = `@${noReplyDomain(ctx.config, ctx.rootUrl)}`;
  const named = wanted.filter((address) => address.endsWith(domain));
  const others = wanted.filter((address) => !address.endsWith(domain));
  const names = named.map((address) => address.slice(0, -domain.length));
  const isOwn = ctx.actor.user && eq(users.id, ctx.actor.user.id);
  // The plus keeps SQLite from beginning with all users there are, by the index of lists.
  const isSeen = allOf(sql`+${users.kind} = 'user'`, isAccountVisible(ctx.actor));
  return unionAll(
    ctx.db
      .select({
        address: sql<string>`${emailAddresses.lowerEmail}`.as("owned_address"),
        userId: sql<number>`${users.id}`.as("owner_id"),
      })
      .from(emailAddresses)
      .innerJoin(users, eq(users.id, emailAddresses.userId))
      .where(
        allOf(
          isIn(emailAddresses.lowerEmail, others),
          eq(emailAddresses.isActivated, true),
          anyOf(eq(users.isEmailHidden, false), isOwn),
          isSeen,
        ),
      ),
    ctx.db
      .select({
        address: sql<string>`${users.lowerName} || ${domain}`.as("owned_address"),
        userId: sql<number>`${users.id}`.as("owner_id"),
      })
      .from(users)
      .where(allOf(isIn(users.lowerName, names), isSeen)),
  ).as("owners");
}

/** Whether a column is one of the values, however many there are: they are bound as one. */
export const isIn = (column: AnyColumn, values: readonly string[]): SQL =>
  sql`${column} in (select value from json_each(${JSON.stringify(values)}))`;
