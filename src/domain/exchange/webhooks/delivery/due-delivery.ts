import { and, asc, eq, inArray, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import type { Database } from "../../../../db/db.ts";
import type { Params } from "../../../../db/prepared.ts";
import { webhookEvents, hookDeliveries, hooks } from "../../../../db/schema/index.ts";

/** A due delivery. */
export type DueDelivery = Awaited<ReturnType<typeof selectDue>>[number];

/** Which due deliveries are read: the first ones of some hooks. */
export interface DueRange {
  readonly hookIds: readonly number[];
  /** The token of the caller's lease on these hooks. */
  readonly token: number;
  /** In milliseconds. */
  readonly now: number;
  /** Deliveries of each hook. */
  readonly ofHookMax: number;
  /** Webhook events whose payloads are not read. */
  readonly knownIds: readonly number[];
}

/** Deliveries of one read: of each hook, and of all together unless these are more hooks. */
const OF_HOOK_MAX = 20;
const OF_ALL_MAX = 100;
/** Payloads of one read: until they exceed this many characters together. */
const PAYLOADS_SIZE_MAX = 4 * 1024 * 1024;

/** How many deliveries of each hook are read, of so many hooks. */
export const ofHookMaxFor = (hookCount: number): number =>
  Math.min(OF_HOOK_MAX, Math.max(1, Math.floor(OF_ALL_MAX / hookCount)));

/** Whether the hook of the current row has due deliveries. */
export const hasDue = (now: SQL): SQL => sql`exists (
  select 1
  from ${hookDeliveries}
  where ${hookDeliveries.hookId} = ${hooks.id}
    and ${hookDeliveries.nextAttemptAt} is not null
    and ${hookDeliveries.nextAttemptAt} <= ${now}
)`;

const due = alias(hookDeliveries, "due");

/** The ids of the first due deliveries of the hook of the current row. */
const firstDue = ({ now, ofHookMax }: Params<DueRange>): SQL => sql`
  select ${due.id}
  from ${hookDeliveries} ${due}
  where ${due.hookId} = ${hooks.id} and ${due.nextAttemptAt} is not null
    and ${due.nextAttemptAt} <= ${now}
  order by ${due.id}
  limit ${ofHookMax}`;

/** Any number of hooks is one bound value: a statement binds at most 100. */
const isLeased = ({ hookIds, token }: Params<DueRange>): SQL | undefined =>
  and(inArray(hooks.id, hookIds), eq(hooks.leasedUntil, token));

/** Selects the first due deliveries of each hook, oldest first. */
export function selectDue(db: Database, range: Params<DueRange>) {
  return db
    .select({
      id: sql<number>`${hookDeliveries.id}`.as("delivery_id"),
      hookId: hookDeliveries.hookId,
      webhookEventId: hookDeliveries.webhookEventId,
      uuid: hookDeliveries.uuid,
      event: sql<string>`${hookDeliveries.event}`.as("delivery_event"),
      isRequested: hookDeliveries.isRequested,
      attemptCount: hookDeliveries.attemptCount,
      nextAttemptAt: hookDeliveries.nextAttemptAt,
      eventId: webhookEvents.eventId,
      repoId: sql<number>`${webhookEvents.repoId}`.as("event_repo_id"),
    })
    .from(hooks)
    .innerJoin(hookDeliveries, sql`${hookDeliveries.id} in (${firstDue(range)})`)
    .innerJoin(webhookEvents, eq(webhookEvents.id, hookDeliveries.webhookEventId))
    .where(isLeased(range))
    .orderBy(asc(hookDeliveries.id));
}

/**
 * Selects the payloads of the deliveries that `selectDue` selects, each once, except for archived
 * ones.
 */
export function selectDuePayloads(db: Database, range: Params<DueRange>) {
  const { id, event, payload, archive } = webhookEvents;
  const dueIds = sql`
    select ${hookDeliveries.webhookEventId}
    from ${hooks}
    join ${hookDeliveries} on ${hookDeliveries.id} in (${firstDue(range)})
    where ${isLeased(range)}`;
  const first = sql`
    select sized.id
    from (
      select
        ${id},
        sum(length(${payload})) over (order by ${id}) - length(${payload}) as size_before
      from ${webhookEvents}
      where ${id} in (${dueIds}) and ${id} not in ${range.knownIds} and ${archive} is null
    ) sized
    where sized.size_before <= ${PAYLOADS_SIZE_MAX}`;
  return db
    .select({ id, event, payload, size: sql<number>`length(${payload})`.as("size") })
    .from(webhookEvents)
    .where(sql`${id} in (${first})`);
}
