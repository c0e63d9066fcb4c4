import { eq, sql, type AnyColumn, type SQL } from "drizzle-orm";

import { isAccountVisible } from "../../auth/policy.ts";
import { noReplyDomain } from "../../config.ts";
import type { Ctx } from "../../context.ts";
import { allOf, anyOf, columnsOf } from "../../db/db.ts";
import { emailAddresses, users, type User } from "../../db/schema/index.ts";

/**
 * The users that addresses in commits belong to, by the address in small letters.
 *
 * SECURITY: an address that its owner hides leads to nobody but for them, and so does one of an
 * account that the caller may not see: else whoever pushes a commit learns whose address is whose.
 *
 * Cost: one round trip.
 */
export async function findByAddresses(
  ctx: Ctx,
  addresses: readonly string[],
): Promise<Map<string, User>> {
  const wanted = [...new Set(addresses.map((address) => address.toLowerCase()))];
  const domain = `@${noReplyDomain(ctx.config, ctx.rootUrl)}`;
  const names = wanted
    .filter((address) => address.endsWith(domain))
    .map((address) => address.slice(0, -domain.length));
  const isOwn = ctx.actor.user && eq(users.id, ctx.actor.user.id);
  const isSeen = allOf(eq(users.kind, "user"), isAccountVisible(ctx.actor));
  const [byAddress, byName] = await ctx.db.batch([
    ctx.db
      .select({ user: columnsOf(users, "u"), address: emailAddresses.lowerEmail })
      .from(emailAddresses)
      .innerJoin(users, eq(users.id, emailAddresses.userId))
      .where(
        allOf(
          isIn(emailAddresses.lowerEmail, wanted),
          eq(emailAddresses.isActivated, true),
          anyOf(eq(users.isEmailHidden, false), isOwn),
          isSeen,
        ),
      ),
    ctx.db
      .select()
      .from(users)
      .where(allOf(isIn(users.lowerName, names), isSeen)),
  ]);
  return new Map([
    ...byAddress.map(({ user, address }) => [address, user] as const),
    ...byName.map((user) => [`${user.lowerName}${domain}`, user] as const),
  ]);
}

const isIn = (column: AnyColumn, values: readonly string[]): SQL =>
  sql`${column} in (select value from json_each(${JSON.stringify(values)}))`;
