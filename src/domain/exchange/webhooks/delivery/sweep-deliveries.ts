import { and, asc, inArray, lt, sql } from "drizzle-orm";

import type { Ctx } from "../../../../context.ts";
import { batch } from "../../../../db/batch.ts";
import { webhookEvents, hookDeliveries } from "../../../../db/schema/index.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** Oldest webhook events that one round examines, and deliveries that it deletes. */
const EVENTS_AT_ONCE = 500;
const DELIVERIES_AT_ONCE = 5000;
/** Rounds of one run; the next run continues. */
const ROUNDS_MAX = 10;

/**
 * Deletes webhook events and deliveries past the configured retention, including requested
 * redeliveries that were not sent yet, and then the archives of days of which none is left. Safe to
 * repeat and to run concurrently.
 */
export async function sweepDeliveries(ctx: Ctx): Promise<void> {
  // An archive is of the day on which it was written, and all that it has was older.
  await ctx.git.deliveryArchives.deleteBefore((await sweepRows(ctx)) ?? ctx.now);
}

/** @returns When the oldest event that is left was created; undefined if none is. */
async function sweepRows({ db, now, config }: Ctx): Promise<number | undefined> {
  // Ids rise with time, so the oldest rows come first by id and no index by time is needed.
  const oldest = db
    .select({ id: webhookEvents.id, createdAt: webhookEvents.createdAt })
    .from(webhookEvents)
    .orderBy(asc(webhookEvents.id))
    .limit(EVENTS_AT_ONCE)
    .as("oldest");
  const outdated = db
    .select({ id: oldest.id })
    .from(oldest)
    .where(lt(oldest.createdAt, now - config.deliveryDays * DAY_MS));
  const hasDeliveries = sql`exists (
    select 1 from ${hookDeliveries} where ${hookDeliveries.webhookEventId} = ${webhookEvents.id}
  )`;
  for (let round = 1; ; round++) {
    const deleted = await batch(db, {
      deliveries: db
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
      events: db
        .delete(webhookEvents)
        .where(and(inArray(webhookEvents.id, outdated), sql`not ${hasDeliveries}`)),
      left: db
        .select({ createdAt: webhookEvents.createdAt })
        .from(webhookEvents)
        .orderBy(asc(webhookEvents.id))
        .limit(1),
    });
    const isDone = deleted.deliveries.meta.changes + deleted.events.meta.changes === 0;
    if (isDone || round === ROUNDS_MAX) return deleted.left[0]?.createdAt;
  }
}
