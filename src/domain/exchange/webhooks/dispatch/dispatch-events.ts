import { inArray, sql, type SQL } from "drizzle-orm";

import { FALLBACK_PUBLIC_URL } from "../../../../config.ts";
import type { Ctx } from "../../../../context.ts";
import { batch } from "../../../../db/batch.ts";
import { insertSelect } from "../../../../db/insert-select.ts";
import { type Params, prepare } from "../../../../db/prepared.ts";
import {
  webhookEvents,
  events,
  type EventRow,
  hookDeliveries,
  hooks,
} from "../../../../db/schema/index.ts";
import type { Event } from "../../../../events/event.ts";
import { DELETION_KINDS, mayHaveHooks } from "../../../../events/webhooks/may-have-hooks.ts";
import { toMessage } from "../../../../events/webhooks/messages/message.ts";
import { subscriptionOf } from "../../../../events/webhooks/payloads/hook-event.ts";
import {
  type WebhookEvent,
  listWebhookEvents,
} from "../../../../events/webhooks/payloads/webhook-event.ts";
import type { Payload } from "../../../../events/webhooks/payloads/payload.ts";
import { encodeUtf8 } from "../../../../git/byte-text.ts";
import { log, logBug } from "../../../../lib/log.ts";
import { settled } from "../../../../lib/settled.ts";
import { WorkBudget } from "../../../../lib/work-budget.ts";
import { byRepository, inOrder, isDueInOrder, LEASED_MAX } from "../../event-stream/due-events.ts";
import { findHooks, type FoundHook, type HookTrigger } from "../hooks/find-hooks.ts";
import { DeliveryStarter } from "./delivery-starter.ts";
import { openPayloadSource, readPayload } from "./read-payload.ts";

/**
 * Duration of an event's first lease, in milliseconds; a dispatcher starts no event after 20 s. The
 * lease grows with each attempt, so that a temporary fault does not use up all attempts.
 */
export const DISPATCH_LEASE_MS = 120 * 1000;
/** Repositories read concurrently: each may take much memory. */
const REPOSITORIES_AT_ONCE = 4;

/**
 * Work budget of one call: after this many milliseconds or statements, the rest is left to another
 * call.
 */
const WORK_MS = 20 * 1000;
const STATEMENTS_MAX = 500;

/** Attempts to dispatch an event. */
export const DISPATCH_ATTEMPTS_MAX = 10;
/**
 * The delay after the first attempt and the longest delay, in milliseconds; it quadruples with each
 * attempt.
 */
const DELAY_MS = 30 * 1000;
const DELAY_MS_MAX = 60 * 60 * 1000;

/** Bytes of one value bound to a statement: D1 accepts at most 2 MB. */
const VALUE_BYTES_MAX = 1_500_000;
/** Deliveries in one bound value: each takes about 80 bytes. */
const DELIVERIES_MAX = 10_000;

/**
 * Dispatches recorded events: creates webhook events, and a delivery for each subscribed hook.
 *
 * Events of one repository are dispatched in order, across concurrent calls. An event that fails
 * blocks only its own repository, for some hours at most. Safe to call at any time and
 * concurrently: a lease gives each event to one call at a time, and rows that were written are not
 * written again.
 *
 * Cost: one round trip if nothing is pending, and for up to fifty events without hooks; three for
 * up to fifty events without subscribers. An event with subscribers takes two more, and one for
 * each push or status in it.
 *
 * @param first What `takeDueEvents` took, if it was called before.
 */
export async function dispatchEvents(ctx: Ctx, first?: readonly EventRow[]): Promise<void> {
  const budget = new WorkBudget(ctx.now, { ms: WORK_MS, statements: STATEMENTS_MAX });
  const starter = new DeliveryStarter(ctx.eventQueues);
  const work: DispatchWork = { ctx, budget, starter };
  try {
    let taken = first ?? (await acquireLease(ctx, budget));
    while (taken.length > 0) {
      const leased = taken.filter(({ dispatchAt }) => dispatchAt !== null);
      if (leased.length > 0) taken = await dispatchLeased(work, inOrder(leased));
      else if (taken.length < LEASED_MAX || budget.isExhausted) taken = [];
      else taken = await acquireLease(ctx, budget);
    }
  } finally {
    await starter.finish();
  }
  if (budget.isExhausted) await ctx.eventQueues.dispatchSoon();
}

/** The values that the events of one call share. */
interface DispatchWork {
  readonly ctx: Ctx;
  readonly budget: WorkBudget;
  readonly starter: DeliveryStarter;
}

function acquireLease({ db, config }: Ctx, budget: WorkBudget) {
  budget.consume(1);
  return takeDueEvents({ db, config, now: budget.now });
}

/**
 * Takes due events, but none behind an event of its repository that is not due yet: leases those
 * that may have hooks, and marks the others as dispatched, which is all that there is to do for
 * most events.
 */
export const takeDueEvents = ({ db, config, now }: Pick<Ctx, "db" | "config" | "now">) =>
  takeDue(db, { now, areHooksOn: !config.areWebhooksDisabled });

/** Events that keep the payload of what was deleted until they are dispatched. */
const isDeletion = inArray(events.type, [...DELETION_KINDS]);

const takeDue = prepare((db, p: Params<{ now: number; areHooksOn: boolean }>) => {
  const leasedUntil = sql`${p.now} + ${DISPATCH_LEASE_MS} + min(
    ${DELAY_MS_MAX}, ${DELAY_MS} * ((1 << min(14, 2 * ${events.dispatchAttempts})) - 1)
  )`;
  const { type, repoId, ownerId } = events;
  const hasHooks = p.areHooksOn
    ? mayHaveHooks({ type: sql`${type}`, repoId: sql`${repoId}`, ownerId: sql`${ownerId}` })
    : sql`0`;
  return db
    .update(events)
    .set({
      dispatchAt: sql`case when ${isDeletion} or ${hasHooks} then ${leasedUntil} end`,
      dispatchAttempts: sql`${events.dispatchAttempts} + 1`,
    })
    .where(isDueInOrder("dispatchAt", p.now))
    .returning();
});

/** An event with its webhook events and their recipients. */
interface Dispatch {
  readonly row: EventRow;
  readonly parts: readonly DispatchPart[];
}

interface DispatchPart {
  /** The index of the webhook event among those of the event. */
  readonly part: number;
  readonly webhookEvent: WebhookEvent;
  readonly hooks: readonly FoundHook[];
}

/** Dispatches leased events, then leases the next due ones. */
async function dispatchLeased(work: DispatchWork, rows: readonly EventRow[]): Promise<EventRow[]> {
  const { ctx, budget } = work;
  const done: EventRow[] = [];
  const remaining: EventRow[] = [];
  const dispatches: Dispatch[] = [];
  for (const each of await findDispatches(ctx, budget, rows)) {
    if (each.parts.length === 0) done.push(each.row);
    else dispatches.push(each);
  }

  const queue = byRepository(dispatches).values();
  const dispatchNext = async (): Promise<void> => {
    for (const ofRepository of queue)
      remaining.push(...(await dispatchRepository(work, ofRepository)));
  };
  await settled(Array.from({ length: REPOSITORIES_AT_ONCE }, dispatchNext));

  budget.consume(2);
  const updates = [markDispatched(ctx, done), releaseLease(ctx, budget, remaining)] as const;
  if (budget.isExhausted) {
    await ctx.db.batch(updates);
    return [];
  }
  // Events recorded meanwhile were blocked by these leases, and no other call takes them.
  const { next } = await batch(ctx.db, { updates, next: acquireLease(ctx, budget) });
  return next;
}

/**
 * Matches events with the hooks that receive them. An event that was attempted too often is given
 * up: only the first of its repository, since those behind it were leased along with it and may
 * never have been attempted.
 */
async function findDispatches(
  ctx: Ctx,
  budget: WorkBudget,
  rows: readonly EventRow[],
): Promise<Dispatch[]> {
  const seen = new Set<number | null>();
  const derived = rows.map((row) => {
    const isFirst = !seen.has(row.repoId);
    seen.add(row.repoId);
    const isGivenUp = isFirst && row.dispatchAttempts > DISPATCH_ATTEMPTS_MAX;
    return { row, list: isGivenUp ? giveUp(row) : webhookEventsOf(row) };
  });
  budget.consume(2);
  const hooksFor = await findHooks(
    ctx,
    derived.flatMap(({ row, list }) => list.map((each) => triggerOf(row, each))),
  );
  return derived.map(({ row, list }) => ({
    row,
    parts: list
      .map((webhookEvent, part) => ({
        part,
        webhookEvent,
        hooks: hooksFor(triggerOf(row, webhookEvent)),
      }))
      .filter((each) => each.hooks.length > 0),
  }));
}

function giveUp({ id, dispatchAttempts }: EventRow): [] {
  log("dispatch:given-up", { eventId: id, attempts: dispatchAttempts });
  return [];
}

/** An event that cannot be parsed now never can be, so it has no webhook events. */
function webhookEventsOf({ id, type, ownerId, repoId, payload }: EventRow): WebhookEvent[] {
  try {
    return listWebhookEvents({ ...payload, type, ownerId, repoId } as unknown as Event);
  } catch (error) {
    logBug(`event-${id}`, error);
    return [];
  }
}

const triggerOf = (row: EventRow, webhookEvent: WebhookEvent): HookTrigger => ({
  event: subscriptionOf(webhookEvent.event),
  // 0 for an event without one.
  repoId: webhookEvent.repoId || undefined,
  // The event belongs to the fork's owner, but the hooks are those of the source's owner.
  ownerId: webhookEvent.event === "fork" ? undefined : row.ownerId,
  ref: "ref" in webhookEvent ? webhookEvent.ref : undefined,
  at: row.createdAt,
});

/**
 * Dispatches the events of one repository, one after the other.
 *
 * @returns Events that were not started.
 */
async function dispatchRepository(
  work: DispatchWork,
  dispatches: readonly Dispatch[],
): Promise<EventRow[]> {
  const { ctx, budget } = work;
  for (const [index, dispatch] of dispatches.entries()) {
    if (budget.isExhausted) return dispatches.slice(index).map(({ row }) => row);
    try {
      await dispatchEvent(work, dispatch);
    } catch (error) {
      logBug(`event-${dispatch.row.id}`, error);
      await postpone(ctx, budget, dispatch.row);
      return dispatches.slice(index + 1).map(({ row }) => row);
    }
  }
  return [];
}

/** A delivery of one webhook event of the event to one hook. */
interface Delivery {
  readonly part: number;
  readonly hookId: number;
  readonly uuid: string;
}

async function dispatchEvent(
  { ctx, budget, starter }: DispatchWork,
  { row, parts }: Dispatch,
): Promise<void> {
  const { db } = ctx;
  const publicUrl = ctx.config.publicUrl || row.rootUrl || FALLBACK_PUBLIC_URL;
  const matched = parts.map(({ webhookEvent }) => webhookEvent);
  const source = await openPayloadSource({ ...ctx, publicUrl }, matched, row.actorId);
  budget.consume(3);

  let texts: string[] = [];
  let bytes = 0;
  let deliveries: Delivery[] = [];
  const hookIds = new Set<number>();
  for (const { part, webhookEvent, hooks: candidates } of parts) {
    const payload = await readPayload(source, webhookEvent);
    budget.consume(1);
    const recipients = payload ? findRecipients(candidates, payload) : [];
    if (!payload || recipients.length === 0) continue;
    const { event, body } = payload;
    const { repoId } = webhookEvent;
    const text = JSON.stringify({ part, event, repoId, payload: body });
    const size = encodeUtf8(text).length;
    if (size > VALUE_BYTES_MAX) {
      log("dispatch:payload-too-large", { eventId: row.id, part, bytes: size });
      continue;
    }
    const isFull =
      bytes + size > VALUE_BYTES_MAX || deliveries.length + recipients.length > DELIVERIES_MAX;
    if (texts.length > 0 && isFull) {
      await db.batch(insertDeliveries(ctx, budget, row, texts, deliveries));
      [texts, bytes, deliveries] = [[], 0, []];
    }
    texts.push(text);
    bytes += size;
    for (const { id: hookId } of recipients) {
      deliveries.push({ part, hookId, uuid: crypto.randomUUID() });
      hookIds.add(hookId);
    }
  }
  budget.consume(1);
  const { marked } = await batch(db, {
    inserts: insertDeliveries(ctx, budget, row, texts, deliveries),
    marked: markDispatched(ctx, [row]),
  });
  // The lease expired during the dispatch, so another call dispatches the event.
  if (marked.meta.changes === 0) log("dispatch:lease-lost", { eventId: row.id });
  starter.start(hookIds);
}

/** Chats receive only payloads that make a message. */
function findRecipients(candidates: readonly FoundHook[], payload: Payload): readonly FoundHook[] {
  if (toMessage(payload)) return candidates;
  return candidates.filter(({ type }) => type === "gitea" || type === "gogs");
}

/**
 * The statements that insert webhook events and their deliveries. They insert nothing that an
 * earlier attempt inserted, and nothing at all if the lease of the event was lost.
 *
 * @param texts JSON of the part, event, repository and payload of each webhook event.
 */
function insertDeliveries(
  { db }: Ctx,
  budget: WorkBudget,
  row: EventRow,
  texts: readonly string[],
  deliveries: readonly Delivery[],
) {
  const { now } = budget;
  budget.consume(2);
  const { id, dispatchAt } = row;
  const isLeased = sql`exists (
    select 1 from ${events} where ${events.id} = ${id} and ${events.dispatchAt} = ${dispatchAt}
  )`;
  return [
    insertSelect(
      db,
      webhookEvents,
      {
        eventId: id,
        part: sql`value ->> 'part'`,
        event: sql`value ->> 'event'`,
        repoId: sql`value ->> 'repoId'`,
        payload: sql`value ->> 'payload'`,
        createdAt: now,
      },
      sql`from json_each(${`[${texts.join(",")}]`}) where ${isLeased}`,
    ).onConflictDoNothing(),
    // Skips hooks that were deleted meanwhile.
    insertSelect(
      db,
      hookDeliveries,
      {
        hookId: hooks.id,
        webhookEventId: webhookEvents.id,
        uuid: sql`item.value ->> 'uuid'`,
        event: webhookEvents.event,
        nextAttemptAt: now,
        createdAt: now,
        updatedAt: now,
      },
      sql`
        from json_each(${JSON.stringify(deliveries)}) item
        join ${webhookEvents}
          on ${webhookEvents.eventId} = ${id} and ${webhookEvents.part} = item.value ->> 'part'
        join ${hooks} on ${hooks.id} = item.value ->> 'hookId'
        where ${isLeased}
        order by item.key`,
    ).onConflictDoNothing(),
  ] as const;
}

/** Marks events as dispatched. */
const markDispatched = ({ db }: Ctx, rows: readonly EventRow[]) =>
  markLeased(db, {
    leased: toLeased(rows),
    haveDeletions: rows.some(({ type }) => DELETION_KINDS.has(type)),
  });

/**
 * Of a deletion without what was deleted, which no one may read then. The payloads of other events
 * are not written again: that of a push has an entry in an index.
 */
const markLeased = prepare((db, p: Params<{ leased: string; haveDeletions: boolean }>) => {
  const payload = sql`iif(
    ${isDeletion}, json_remove(${events.payload}, '$.lastPayload'), ${events.payload}
  )`;
  return db
    .update(events)
    .set({ dispatchAt: null, ...(p.haveDeletions && { payload }) })
    .where(areStillLeased(p.leased));
});

/** Releases the leases of events that were not started. */
const releaseLease = ({ db }: Ctx, { now }: WorkBudget, rows: readonly EventRow[]) =>
  releaseLeased(db, { leased: toLeased(rows), now });

const releaseLeased = prepare((db, p: Params<{ leased: string; now: number }>) =>
  db
    .update(events)
    .set({ dispatchAt: p.now, dispatchAttempts: sql`${events.dispatchAttempts} - 1` })
    .where(areStillLeased(p.leased)),
);

/**
 * Postpones an event that failed, and with it the later events of its repository, or gives it up.
 */
async function postpone(ctx: Ctx, budget: WorkBudget, row: EventRow): Promise<void> {
  budget.consume(1);
  if (row.dispatchAttempts >= DISPATCH_ATTEMPTS_MAX) {
    giveUp(row);
    await markDispatched(ctx, [row]);
    return;
  }
  const delayMs = Math.min(DELAY_MS * 4 ** (row.dispatchAttempts - 1), DELAY_MS_MAX);
  await ctx.db
    .update(events)
    .set({ dispatchAt: budget.now + delayMs })
    .where(areStillLeased(sql`${toLeased([row])}`));
}

/** Leased events as `areStillLeased` takes them. */
const toLeased = (rows: readonly EventRow[]): string =>
  JSON.stringify(rows.map(({ id, dispatchAt }) => ({ id, dispatchAt })));

/** The condition for the given events that no other call has leased since. */
const areStillLeased = (leased: SQL): SQL => sql`(${events.id}, ${events.dispatchAt}) in (
  select value ->> 'id', value ->> 'dispatchAt' from json_each(${leased})
)`;
