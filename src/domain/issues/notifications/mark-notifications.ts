import { and, eq, ne, sql } from "drizzle-orm";

import { principalOf } from "../../../auth/principal.ts";
import type { Ctx } from "../../../context.ts";
import {
  notifications,
  type Notification,
  type NotificationStatus,
  type User,
} from "../../../db/schema/index.ts";
import type { NotificationFilter } from "./notification-filter.ts";
import { selectPage } from "./select-page.ts";

/** Notifications that one statement marks: a statement of D1 ends after 30 seconds. */
const MARKED_AT_ONCE = 2000;
/** Statements of one request. A user with more notifications repeats it. */
const STATEMENTS_MAX = 100;

/**
 * Marks the notifications of a user that the caller may see, last updated first. Those that have
 * the status already keep it.
 *
 * Cost: one round trip for each 2,000.
 */
export async function markNotifications(
  ctx: Ctx,
  filter: NotificationFilter,
  status: NotificationStatus,
): Promise<void> {
  const others = { ...filter, statuses: filter.statuses.filter((each) => each !== status) };
  if (others.statuses.length === 0) return;
  const principal = principalOf(ctx.actor);
  for (let count = 0; count < STATEMENTS_MAX; count++) {
    const some = selectPage(principal, others, others, { size: MARKED_AT_ONCE, offset: 0 });
    const { meta } = await ctx.db
      .update(notifications)
      .set({ status, updatedAt: ctx.now })
      .where(sql`${notifications.id} in (select id from ${some})`);
    if (meta.changes < MARKED_AT_ONCE) return;
  }
}

/**
 * Marks those of some notifications that are a user's. Those that have the status already keep it.
 *
 * Cost: one round trip.
 */
export async function markChosenNotifications(
  { db, now }: Ctx,
  { id: userId }: User,
  ids: readonly number[],
  status: NotificationStatus,
): Promise<void> {
  await db
    .update(notifications)
    .set({ status, updatedAt: now })
    .where(
      and(
        sql`${notifications.id} in (select value from json_each(${JSON.stringify(ids)}))`,
        eq(notifications.userId, userId),
        ne(notifications.status, status),
      ),
    );
}

/** Marks one notification. */
export async function markNotification(
  { db, now }: Ctx,
  { id, userId }: Notification,
  status: NotificationStatus,
): Promise<void> {
  await db
    .update(notifications)
    .set({ status, updatedAt: now })
    .where(and(eq(notifications.id, id), eq(notifications.userId, userId)));
}
