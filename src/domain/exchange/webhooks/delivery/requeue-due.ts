import { and, asc, eq, isNull, lte, or, sql } from "drizzle-orm";

import type { Ctx } from "../../../../context.ts";
import { batch } from "../../../../db/batch.ts";
import { events, hookDeliveries, hooks } from "../../../../db/schema/index.ts";

/** Hooks requeued by one run of the schedule; the next run continues. */
const HOOKS_MAX = 1000;

/**
 * Queues messages again for events, their consequences and deliveries that are overdue, because
 * their first messages were lost or their consumer was interrupted.
 */
export async function requeueDue({ db, now, config, eventQueues }: Ctx): Promise<void> {
  const { undispatched, pending, due } = await batch(db, {
    undispatched: db
      .select({ id: events.id })
      .from(events)
      .where(and(sql`${events.dispatchAt} is not null`, lte(events.dispatchAt, now)))
      .limit(1),
    pending: db
      .select({ id: events.id })
      .from(events)
      .where(and(sql`${events.consequencesAt} is not null`, lte(events.consequencesAt, now)))
      .limit(1),
    due: db
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
  });
  if (undispatched.length + pending.length > 0) await eventQueues.dispatchSoon();
  if (due.length > 0 && !config.areWebhooksDisabled)
    await eventQueues.deliverSoon(due.map(({ hookId }) => hookId));
}
