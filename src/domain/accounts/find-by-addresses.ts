import { eq, sql, type AnyColumn, type SQL } from "drizzle-orm";
import { unionAll } from "drizzle-orm/sqlite-core";

import { isAccountVisible } from "../../auth/access/accounts.ts";
import { noReplyDomain } from "../../config.ts";
import { principalOf } from "../../auth/principal.ts";
import type { Ctx } from "../../context.ts";
import { allOf, anyOf, columnsOf } from "../../db/db.ts";
import { emailAddresses, users, type User } from "../../db/schema/index.ts";

/**
 * Finds the users that own the email addresses of commits, keyed by lower-case address.
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
 * A subquery of lower-case `address` and `userId`, with column aliases that clash with no table's.
 *
 * An address of the service's no-reply domain belongs to the account that it names, even if another account
 * has added it.
 *
 * SECURITY: hidden addresses match for their owner only, and addresses of accounts invisible to the caller
 * match nothing. Otherwise a caller could push a commit to learn who owns an address.
 */
export function selectOwners(ctx: Ctx, addresses: readonly string[]) {
  const wanted = [...new Set(addresses.map((address) => address.toLowerCase()))];
  const domain = `@${noReplyDomain(ctx.config, ctx.publicUrl)}`;
  const named = wanted.filter((address) => address.endsWith(domain));
  const others = wanted.filter((address) => !address.endsWith(domain));
  const names = named.map((address) => address.slice(0, -domain.length));
  const isOwn = ctx.actor.user && eq(users.id, ctx.actor.user.id);
  // The plus keeps SQLite from using the index on `kind`, which would scan all users.
  const isSeen = allOf(sql`+${users.kind} = 'user'`, isAccountVisible(principalOf(ctx.actor)));
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

/** Matches a column against any number of values, bound as a single JSON parameter. */
export const isIn = (column: AnyColumn, values: readonly string[]): SQL =>
  sql`${column} in (select value from json_each(${JSON.stringify(values)}))`;
