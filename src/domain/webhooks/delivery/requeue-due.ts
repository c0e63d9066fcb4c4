import { and, asc, eq, isNull, lte, or, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { events, hookDeliveries, hooks } from "../../../db/schema/index.ts";
import { selectDueEntry } from "../../cross-shard/send-entries.ts";

/** Hooks requeued by one run of the schedule; the next run continues. */
const HOOKS_MAX = 1000;

/**
 * Queues messages again for events, their consequences, deliveries, and entries of other databases' timelines that are overdue, because
 * their first messages were lost or their consumer was interrupted.
 */
export async function requeueDue(ctx: Ctx): Promise<void> {
  const { db, now, config, eventQueues } = ctx;
  const [undispatched, pending, due, unsent = []] = await db.batch([
    db
      .select({ id: events.id })
      .from(events)
      .where(and(sql`${events.dispatchAt} is not null`, lte(events.dispatchAt, now)))
      .limit(1),
    db
      .select({ id: events.id })
      .from(events)
      .where(and(sql`${events.consequencesAt} is not null`, lte(events.consequencesAt, now)))
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
    ...(ctx.openShards().size > 0 ? [selectDueEntry(db, now)] : []),
  ]);
  if (undispatched.length + pending.length + unsent.length > 0)
    await eventQueues.dispatchSoon([db.shard]);
  if (due.length > 0 && !config.areWebhooksDisabled)
    await eventQueues.deliverSoon(
      due.map(({ hookId }) => hookId),
      db,
    );
}
