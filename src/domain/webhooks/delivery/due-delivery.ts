import { and, asc, eq, lte, type SQL, sql } from "drizzle-orm";

import type { Database } from "../../../db/db.ts";
import { webhookEvents, hookDeliveries, hooks } from "../../../db/schema/index.ts";

/** A due delivery with its payload. */
export type DueDelivery = Awaited<ReturnType<typeof selectDue>>[number];

/**
 * Bounds of one read per hook: this many deliveries, and payloads until they exceed this many bytes
 * together.
 */
const DELIVERIES_MAX = 20;
const BYTES_MAX = 1_048_576;

/** Whether the hook of the current row has due deliveries. */
export const hasDue = (now: number): SQL => sql`exists (
  select 1
  from ${hookDeliveries}
  where ${hookDeliveries.hookId} = ${hooks.id}
    and ${hookDeliveries.nextAttemptAt} is not null
    and ${hookDeliveries.nextAttemptAt} <= ${now}
)`;

/**
 * Selects the first due deliveries of each hook, oldest first.
 *
 * @param token The token of the caller's lease on these hooks.
 */
export function selectDue(db: Database, hookIds: readonly number[], token: number, now: number) {
  const first = db
    .select({
      id: hookDeliveries.id,
      hookId: hookDeliveries.hookId,
      webhookEventId: hookDeliveries.webhookEventId,
      uuid: hookDeliveries.uuid,
      event: hookDeliveries.event,
      isRequested: hookDeliveries.isRequested,
      attemptCount: hookDeliveries.attemptCount,
      nextAttemptAt: hookDeliveries.nextAttemptAt,
    })
    .from(hooks)
    .innerJoin(
      hookDeliveries,
      sql`${hookDeliveries.id} in (
        select "d"."id"
        from ${hookDeliveries} "d"
        where "d"."hook_id" = ${hooks.id}
          and "d"."status" = 'pending'
          and "d"."next_attempt_at" <= ${now}
        order by "d"."id"
        limit ${DELIVERIES_MAX}
      )`,
    )
    .where(
      and(
        sql`${hooks.id} in (select value from json_each(${JSON.stringify(hookIds)}))`,
        eq(hooks.leasedUntil, token),
      ),
    )
    .as("first");
  const withEvent = db
    .select({
      id: first.id,
      hookId: first.hookId,
      uuid: first.uuid,
      event: first.event,
      isRequested: first.isRequested,
      attemptCount: first.attemptCount,
      nextAttemptAt: first.nextAttemptAt,
      eventId: webhookEvents.eventId,
      repoId: webhookEvents.repoId,
      payload: webhookEvents.payload,
      bytesBefore: sql<number>`
        sum(length(${webhookEvents.payload}))
          over (partition by ${first.hookId} order by ${first.id})
        - length(${webhookEvents.payload})`.as("bytes_before"),
    })
    .from(first)
    .innerJoin(webhookEvents, eq(webhookEvents.id, first.webhookEventId))
    .as("withEvent");
  return db
    .select({
      id: withEvent.id,
      hookId: withEvent.hookId,
      uuid: withEvent.uuid,
      event: withEvent.event,
      isRequested: withEvent.isRequested,
      attemptCount: withEvent.attemptCount,
      nextAttemptAt: withEvent.nextAttemptAt,
      eventId: withEvent.eventId,
      repoId: withEvent.repoId,
      payload: withEvent.payload,
    })
    .from(withEvent)
    .where(lte(withEvent.bytesBefore, BYTES_MAX))
    .orderBy(asc(withEvent.id));
}
