import { eq, sql, type SQL } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import { type CallerArgument, toCallerSql } from "../../../auth/caller-sql.ts";
import type { Database } from "../../../db/db.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { users } from "../../../db/schema/index.ts";
import { NOTIFICATION_SUBJECTS, visibleCounts } from "./notification-filter.ts";

const addressee = alias(users, "addressee");

/**
 * Selects the number of unread notifications that the caller of a page may see, for a batch that is
 * sent before the caller is known; no row for a caller without an account.
 *
 * Cost: as `visibleCounts`.
 */
export const selectUnreadCount = (db: Database, caller: CallerArgument) =>
  unreadCount(db, { caller });

const unreadCount = prepare((db, { caller }: Params<{ caller: CallerArgument }>) =>
  db
    .select({
      count: sql<number>`case
        when ${addressee.isAdmin} then ${countFor({ isSiteAdmin: true, isRestricted: false })}
        when ${addressee.isRestricted} then ${countFor({ isSiteAdmin: false, isRestricted: true })}
        else ${countFor({ isSiteAdmin: false, isRestricted: false })}
      end`.as("unread_count"),
    })
    .from(addressee)
    .where(eq(addressee.id, toCallerSql(caller).actorId)),
);

/** Counts for a reader with these flags. Only sessions have pages: they are bound to nothing. */
function countFor(flags: { isSiteAdmin: boolean; isRestricted: boolean }): SQL {
  const userId = sql`${addressee.id}`;
  const principal = { ...flags, isPublicOnly: false, userId, boundTokenId: undefined };
  const kinds = { statuses: ["unread"] as const, subjects: NOTIFICATION_SUBJECTS };
  return sql`(
    select coalesce(sum(count), 0) from (${visibleCounts(principal, { userId }, kinds)})
  )`;
}

/** The count of the rows of `selectUnreadCount`. */
export const toUnreadCount = (rows: readonly { count: number }[] | undefined): number =>
  rows?.[0]?.count ?? 0;
