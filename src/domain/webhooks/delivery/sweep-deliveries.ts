import { and, asc, inArray, lt, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { webhookEvents, hookDeliveries } from "../../../db/schema/index.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** The oldest announcements that one round looks at, and deliveries of theirs that it removes. */
const ANNOUNCEMENTS_AT_ONCE = 500;
const DELIVERIES_AT_ONCE = 5000;
/** Rounds of one run; the next one goes on. */
const ROUNDS_MAX = 10;

/**
 * Removes what hooks were told longer ago than the configuration keeps it, also what is asked for once
 * more and not sent yet. It may be done twice and by several at once.
 */
export async function sweepDeliveries({ db, now, config }: Ctx): Promise<void> {
  // Ids rise with time, so that no index by time is needed: what is old is at their beginning.
  const oldest = db
    .select({ id: webhookEvents.id, createdAt: webhookEvents.createdAt })
    .from(webhookEvents)
    .orderBy(asc(webhookEvents.id))
    .limit(ANNOUNCEMENTS_AT_ONCE)
    .as("oldest");
  const outdated = db
    .select({ id: oldest.id })
    .from(oldest)
    .where(lt(oldest.createdAt, now - config.deliveryDays * DAY_MS));
  const isDelivered = sql`exists (
    select 1 from ${hookDeliveries} where ${hookDeliveries.webhookEventId} = ${webhookEvents.id}
  )`;
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const [deliveries, told] = await db.batch([
      db
        .delete(hookDeliveries)
        .where(
          inArray(
            hookDeliveries.id,
            db
              .select({ id: hookDeliveries.id })
              .from(hookDeliveries)
              .where(inArray(hookDeliveries.webhookEventId, outdated))
              .limit(DELIVERIES_AT_ONCE),
          ),
        ),
      db
        .delete(webhookEvents)
        .where(and(inArray(webhookEvents.id, outdated), sql`not ${isDelivered}`)),
    ]);
    if (deliveries.meta.changes + told.meta.changes === 0) return;
  }
}
