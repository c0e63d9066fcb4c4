import { and, asc, eq, isNull, lte, or, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { events, hookDeliveries, hooks } from "../../../db/schema/index.ts";

/** Hooks that one run of the schedule sees to; the next one goes on. */
const HOOKS_MAX = 1000;

/**
 * Sends again the messages of what should have been told or delivered by now: the first ones were lost,
 * or whoever got them was cut off.
 */
export async function requeueDue({ db, now, config, eventQueues }: Ctx): Promise<void> {
  const [undispatched, due] = await db.batch([
    db
      .select({ id: events.id })
      .from(events)
      .where(and(sql`${events.dispatchAt} is not null`, lte(events.dispatchAt, now)))
      .limit(1),
    db
      .selectDistinct({ hookId: hookDeliveries.hookId })
      .from(hookDeliveries)
      .innerJoin(hooks, eq(hooks.id, hookDeliveries.hookId))
      .where(
        and(
          lte(hookDeliveries.nextAttemptAt, now),
          or(isNull(hooks.backoffUntil), lte(hooks.backoffUntil, now)),
          or(isNull(hooks.leasedUntil), lte(hooks.leasedUntil, now)),
        ),
      )
      .orderBy(asc(hookDeliveries.hookId))
      .limit(HOOKS_MAX),
  ]);
  if (undispatched.length > 0) await eventQueues.dispatchSoon();
  if (due.length > 0 && !config.areWebhooksDisabled)
    await eventQueues.deliverSoon(due.map(({ hookId }) => hookId));
}
