import { eq, inArray, sql } from "drizzle-orm";
import { unionAll } from "drizzle-orm/sqlite-core";

import { isAccountVisible } from "../../../auth/access/accounts.ts";
import { noReplyDomain } from "../../../config.ts";
import { type Principal, principalOf } from "../../../auth/principal.ts";
import type { Ctx } from "../../../context.ts";
import { allOf, anyOf, columnsOf, type Database } from "../../../db/db.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { emailAddresses, users, type User } from "../../../db/schema/index.ts";

/**
 * Finds the users that own the email addresses of commits, keyed by lower-case address.
 *
 * Cost: one round trip.
 */
export async function findByAddresses(
  ctx: Ctx,
  addresses: readonly string[],
): Promise<Map<string, User>> {
  const rows = await ownersOf(ctx.db, { query: toAddressQuery(ctx, addresses) });
  return new Map(rows.map(({ user, address }) => [address, user]));
}

const ownersOf = prepare((db, { query }: Params<{ query: AddressQuery }>) => {
  const owners = selectOwners(db, query);
  return db
    .select({ user: columnsOf(users, "u"), address: owners.address })
    .from(owners)
    .innerJoin(users, eq(users.id, owners.userId));
});

/** Addresses whose owners are searched, as an argument of a query. */
export interface AddressQuery {
  readonly principal: Principal;
  /** The id of the caller, whose hidden addresses match. */
  readonly userId: number | undefined;
  /** The no-reply domain with its sign, and the names in front of it. */
  readonly domain: string;
  readonly names: readonly string[];
  readonly others: readonly string[];
}

export function toAddressQuery(
  { config, publicUrl, actor }: Ctx,
  addresses: readonly string[],
): AddressQuery {
  const lowered = [...new Set(addresses.map((address) => address.toLowerCase()))];
  const domain = `@${noReplyDomain(config, publicUrl)}`;
  const named = lowered.filter((address) => address.endsWith(domain));
  return {
    principal: principalOf(actor),
    userId: actor.user?.id,
    domain,
    names: named.map((address) => address.slice(0, -domain.length)),
    others: lowered.filter((address) => !address.endsWith(domain)),
  };
}

/**
 * A subquery of lower-case `address` and `userId`, with column aliases that clash with no table's.
 *
 * An address of the service's no-reply domain belongs to the account that it names, even if another
 * account has added it.
 *
 * SECURITY: hidden addresses match for their owner only, and addresses of accounts invisible to the
 * caller match nothing. Otherwise a caller could push a commit to learn who owns an address.
 */
export function selectOwners(
  db: Database,
  { principal, userId, domain, names, others }: Params<AddressQuery>,
) {
  const isOwn = userId && eq(users.id, userId);
  // The plus keeps SQLite from using the index on `kind`, which would scan all users.
  const isSeen = allOf(sql`+${users.kind} = 'user'`, isAccountVisible(principal));
  return unionAll(
    db
      .select({
        address: sql<string>`${emailAddresses.lowerEmail}`.as("owned_address"),
        userId: sql<number>`${users.id}`.as("owner_id"),
      })
      .from(emailAddresses)
      .innerJoin(users, eq(users.id, emailAddresses.userId))
      .where(
        allOf(
          inArray(emailAddresses.lowerEmail, others),
          eq(emailAddresses.isActivated, true),
          anyOf(eq(users.isEmailHidden, false), isOwn),
          isSeen,
        ),
      ),
    db
      .select({
        address: sql<string>`${users.lowerName} || ${domain}`.as("owned_address"),
        userId: sql<number>`${users.id}`.as("owner_id"),
      })
      .from(users)
      .where(allOf(inArray(users.lowerName, names), isSeen)),
  ).as("owners");
}
