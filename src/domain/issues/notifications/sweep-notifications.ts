import { inArray, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { notifications } from "../../../db/schema/index.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** Notifications that one round deletes. */
const DELETED_AT_ONCE = 2000;
/** Rounds of one run; the next run continues. */
const ROUNDS_MAX = 20;

/**
 * Deletes notifications that were read, and did not change since, longer ago than the configured
 * time. Unread and pinned ones stay. Safe to repeat and to run concurrently.
 *
 * @param atOnce Notifications that one round deletes at most.
 */
export async function sweepNotifications(
  { db, now, config }: Ctx,
  atOnce = DELETED_AT_ONCE,
): Promise<void> {
  if (config.notificationDays === 0) return;
  const outdated = db
    .select({ id: notifications.id })
    .from(notifications)
    .where(
      sql`${notifications.status} = 'read'
        and ${notifications.updatedAt} < ${now - config.notificationDays * DAY_MS}`,
    )
    .orderBy(notifications.updatedAt)
    .limit(atOnce);
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const { meta } = await db.delete(notifications).where(inArray(notifications.id, outdated));
    if (meta.changes < atOnce) return;
  }
}
