import { sql, type SQL } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import {
  announcements,
  events,
  type EventRow,
  hookDeliveries,
  hooks,
} from "../../../db/schema/index.ts";
import type { Event } from "../../../events/event.ts";
import { toMessage } from "../../../events/messages/message.ts";
import { type Announcement, listAnnouncements } from "../../../events/payloads/announcement.ts";
import type { Payload } from "../../../events/payloads/payload.ts";
import { encodeUtf8 } from "../../../git/byte-text.ts";
import { log, logBug } from "../../../lib/log.ts";
import { settled } from "../../../lib/settled.ts";
import { findHooks, type FoundHook, type HookTrigger } from "../hooks/find-hooks.ts";
import { openPayloadSource, readPayload } from "./read-payload.ts";

/** Events that are taken at once. */
const CLAIMED_MAX = 50;
/**
 * How long they are nobody else's, in milliseconds, for the first time: whoever has them begins none
 * after 20 s. With each attempt it is longer, so that attempts are not used up by a fault that passes.
 */
export const DISPATCH_LEASE_MS = 120 * 1000;
/** Repositories whose code is read at once: each may take much memory. */
const REPOSITORIES_AT_ONCE = 4;

/** After so many milliseconds, or statements to the database, the rest is left to another call. */
const WORK_MS = 20 * 1000;
const STATEMENTS_MAX = 500;

/** Attempts to tell of an event. */
export const DISPATCH_ATTEMPTS_MAX = 10;
/** What comes between the first two of them, in milliseconds, and at most: each time it is four times as long. */
const DELAY_MS = 30 * 1000;
const DELAY_MS_MAX = 60 * 60 * 1000;

/** Bytes of one value that is sent to the database: it takes no more than 2 MB. */
const VALUE_BYTES_MAX = 1_500_000;
/** Deliveries in one value: each takes some 80 bytes. */
const DELIVERIES_MAX = 10_000;

/** Where the service is, where nobody ever said it. */
const NOWHERE = "http://localhost";

/**
 * Hands out the events that wait for it: what each hook is told becomes a delivery.
 *
 * Those of one repository are handed out in their order, by whoever does it; one that can't be holds up
 * its own repository alone, for some hours at most. May be done at any time, and by several at once: an
 * event belongs to one of them as long as its lease lasts, and what was written is not written again.
 *
 * Cost: one round where nothing waits; three for up to fifty events of which nobody hears. One that is
 * heard of takes two more, and one for each push or status in it.
 */
export async function tellEvents(ctx: Ctx): Promise<void> {
  const turn = new Turn(ctx.now);
  let claimed = await ctx.db.batch([claim(ctx, turn)]).then(([rows]) => rows);
  while (claimed.length > 0) claimed = await tellClaimed(ctx, turn, inOrder(claimed));
  if (turn.isOver) await ctx.eventQueues.tellSoon();
}

/** What one call may do. */
class Turn {
  readonly #now: number;
  readonly #startedAt = Date.now();
  #statements = 0;

  constructor(now: number) {
    this.#now = now;
  }

  /** In milliseconds. */
  get now(): number {
    return this.#now + Date.now() - this.#startedAt;
  }

  get isOver(): boolean {
    return this.#statements >= STATEMENTS_MAX || Date.now() - this.#startedAt >= WORK_MS;
  }

  spend(statements: number): void {
    this.#statements += statements;
  }
}

/** Takes what is due, but nothing that comes after an event of its repository that is not. */
function claim({ db }: Ctx, turn: Turn) {
  const { now } = turn;
  turn.spend(1);
  const isDue = sql`e.tell_at is not null and e.tell_at <= ${now}`;
  const isBehind = sql`exists (
    select 1
    from ${events} x
    where x.repo_id = e.repo_id and x.id < e.id and x.tell_at is not null and x.tell_at > ${now}
  )`;
  return db
    .update(events)
    .set({
      tellAt: sql`${now + DISPATCH_LEASE_MS} + min(
        ${DELAY_MS_MAX}, ${DELAY_MS} * ((1 << min(14, 2 * ${events.tellAttempts})) - 1)
      )`,
      tellAttempts: sql`${events.tellAttempts} + 1`,
    })
    .where(
      sql`${events.id} in (
        select e.id
        from ${events} e
        where ${isDue} and not ${isBehind}
        order by e.id
        limit ${CLAIMED_MAX}
      )`,
    )
    .returning();
}

const inOrder = (rows: readonly EventRow[]): EventRow[] => rows.toSorted((a, b) => a.id - b.id);

/** An event with those who are to hear of it. */
interface Heard {
  readonly row: EventRow;
  readonly parts: readonly HeardPart[];
}

interface HeardPart {
  /** The place of the announcement among those of the event. */
  readonly part: number;
  readonly announcement: Announcement;
  readonly hooks: readonly FoundHook[];
}

/** Tells of what was claimed, and claims what is due then. */
async function tellClaimed(ctx: Ctx, turn: Turn, rows: readonly EventRow[]): Promise<EventRow[]> {
  const done: EventRow[] = [];
  const left: EventRow[] = [];
  const heard: Heard[] = [];
  for (const each of await findHeard(ctx, turn, rows)) {
    if (each.parts.length === 0) done.push(each.row);
    else heard.push(each);
  }

  const queue = shuffle([...Map.groupBy(heard, ({ row }) => row.repoId).values()]).values();
  const work = async (): Promise<void> => {
    for (const ofRepository of queue) left.push(...(await tellRepository(ctx, turn, ofRepository)));
  };
  await settled(Array.from({ length: REPOSITORIES_AT_ONCE }, work));

  turn.spend(2);
  const ends = [settle(ctx, done), release(ctx, turn, left)] as const;
  if (turn.isOver) {
    await ctx.db.batch(ends);
    return [];
  }
  // What was recorded meanwhile waited for what came before it, and nobody else looks after it.
  const [, , next] = await ctx.db.batch([...ends, claim(ctx, turn)]);
  return next;
}

/**
 * In an order of chance: where one of them was the end of whoever told it, others come before it the
 * next time.
 */
function shuffle<T>(list: readonly T[]): T[] {
  return list
    .map((item) => ({ item, key: Math.random() }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ item }) => item);
}

/**
 * Finds out who is to hear of events. One that was begun too often is heard by nobody: the first of its
 * repository, since those behind it were taken along each time and may never have been begun.
 */
async function findHeard(ctx: Ctx, turn: Turn, rows: readonly EventRow[]): Promise<Heard[]> {
  const seen = new Set<number | null>();
  const told = rows.map((row) => {
    const isFirst = !seen.has(row.repoId);
    seen.add(row.repoId);
    const isGivenUp = isFirst && row.tellAttempts > DISPATCH_ATTEMPTS_MAX;
    return { row, announced: isGivenUp ? giveUp(row) : announcementsOf(row) };
  });
  turn.spend(2);
  const hear = await findHooks(
    ctx,
    told.flatMap(({ row, announced }) => announced.map((each) => occasionOf(row, each))),
  );
  return told.map(({ row, announced }) => ({
    row,
    parts: announced
      .map((announcement, part) => ({
        part,
        announcement,
        hooks: hear(occasionOf(row, announcement)),
      }))
      .filter((each) => each.hooks.length > 0),
  }));
}

function giveUp({ id, tellAttempts }: EventRow): [] {
  log("tell:given-up", { eventId: id, attempts: tellAttempts });
  return [];
}

/** What can't be made out now never can. */
function announcementsOf({ id, type, ownerId, repoId, payload }: EventRow): Announcement[] {
  try {
    return listAnnouncements({ ...payload, type, ownerId, repoId } as unknown as Event);
  } catch (error) {
    logBug(`event-${id}`, error);
    return [];
  }
}

const occasionOf = (row: EventRow, announcement: Announcement): HookTrigger => ({
  event: announcement.event,
  repoId: announcement.repoId,
  // A fork belongs to somebody else than its source.
  ownerId: announcement.event === "fork" ? undefined : row.ownerId,
  ref: "ref" in announcement ? announcement.ref : undefined,
  at: row.createdAt,
});

/**
 * Tells of events of one repository, one after the other.
 *
 * @returns Those that were not begun.
 */
async function tellRepository(ctx: Ctx, turn: Turn, list: readonly Heard[]): Promise<EventRow[]> {
  for (const [at, heard] of list.entries()) {
    if (turn.isOver) return list.slice(at).map(({ row }) => row);
    try {
      await tellEvent(ctx, turn, heard);
    } catch (error) {
      logBug(`event-${heard.row.id}`, error);
      await putOff(ctx, turn, heard.row);
      return list.slice(at + 1).map(({ row }) => row);
    }
  }
  return [];
}

/** What one hook is told, by the part of the event. */
interface Delivery {
  readonly part: number;
  readonly hookId: number;
  readonly uuid: string;
}

async function tellEvent(ctx: Ctx, turn: Turn, { row, parts }: Heard): Promise<void> {
  const { db, eventQueues } = ctx;
  const rootUrl = row.rootUrl || ctx.rootUrl || NOWHERE;
  const told = parts.map(({ announcement }) => announcement);
  const source = await openPayloadSource({ ...ctx, rootUrl }, told, row.actorId);
  turn.spend(3);

  let texts: string[] = [];
  let bytes = 0;
  let deliveries: Delivery[] = [];
  const hookIds = new Set<number>();
  for (const { part, announcement, hooks: all } of parts) {
    const payload = await readPayload(source, announcement);
    turn.spend(1);
    const hearing = payload ? findHearing(all, payload) : [];
    if (!payload || hearing.length === 0) continue;
    const { event, body } = payload;
    const { repoId } = announcement;
    const text = JSON.stringify({ part, event, repoId, payload: body });
    const size = encodeUtf8(text).length;
    if (size > VALUE_BYTES_MAX) {
      log("tell:too-large", { eventId: row.id, part, bytes: size });
      continue;
    }
    const isFull =
      bytes + size > VALUE_BYTES_MAX || deliveries.length + hearing.length > DELIVERIES_MAX;
    if (texts.length > 0 && isFull) {
      await db.batch(write(ctx, turn, row, texts, deliveries));
      [texts, bytes, deliveries] = [[], 0, []];
    }
    texts.push(text);
    bytes += size;
    for (const { id: hookId } of hearing) {
      deliveries.push({ part, hookId, uuid: crypto.randomUUID() });
      hookIds.add(hookId);
    }
  }
  turn.spend(1);
  const [, , ended] = await db.batch([
    ...write(ctx, turn, row, texts, deliveries),
    settle(ctx, [row]),
  ]);
  // It took longer than its lease: somebody else tells it.
  if (ended.meta.changes === 0) log("tell:lost", { eventId: row.id });
  await eventQueues.deliverSoon([...hookIds]);
}

/** Chats are told only where there is something to say. */
function findHearing(all: readonly FoundHook[], payload: Payload): readonly FoundHook[] {
  if (toMessage(payload)) return all;
  return all.filter(({ type }) => type === "gitea" || type === "gogs");
}

/**
 * The statements that write announcements and their deliveries. They add nothing where that was done
 * before, and where the event is somebody else's by now.
 *
 * @param texts JSON of the part, event, repository and payload of each announcement.
 */
function write(
  { db }: Ctx,
  turn: Turn,
  row: EventRow,
  texts: readonly string[],
  deliveries: readonly Delivery[],
) {
  const { now } = turn;
  turn.spend(2);
  const { id, tellAt } = row;
  const isMine = sql`exists (select 1 from ${events} where id = ${id} and tell_at = ${tellAt})`;
  return [
    insertSelect(
      db,
      announcements,
      {
        eventId: id,
        part: sql`value ->> 'part'`,
        event: sql`value ->> 'event'`,
        repoId: sql`value ->> 'repoId'`,
        payload: sql`value ->> 'payload'`,
        createdAt: now,
      },
      sql`from json_each(${`[${texts.join(",")}]`}) where ${isMine}`,
    ).onConflictDoNothing(),
    // A hook that was deleted meanwhile is left out.
    insertSelect(
      db,
      hookDeliveries,
      {
        hookId: sql`h.id`,
        announcementId: sql`a.id`,
        uuid: sql`d.value ->> 'uuid'`,
        event: sql`a.event`,
        nextAttemptAt: now,
        createdAt: now,
        updatedAt: now,
      },
      sql`
        from json_each(${JSON.stringify(deliveries)}) d
        join ${announcements} a on a.event_id = ${id} and a.part = d.value ->> 'part'
        join ${hooks} h on h.id = d.value ->> 'hookId'
        where ${isMine}
        order by d.key`,
    ).onConflictDoNothing(),
  ] as const;
}

/** Nobody need be told of these any more. */
const settle = ({ db }: Ctx, rows: readonly EventRow[]) =>
  db
    .update(events)
    .set({
      tellAt: null,
      payload: sql`case
        when ${events.type} = 'repository.deleted'
          then json_remove(${events.payload}, '$.lastPayload')
        else ${events.payload}
      end`,
    })
    .where(areMine(rows));

/** Gives back what was claimed and not begun. */
function release({ db }: Ctx, { now }: Turn, rows: readonly EventRow[]) {
  return db
    .update(events)
    .set({ tellAt: now, tellAttempts: sql`${events.tellAttempts} - 1` })
    .where(areMine(rows));
}

/** Lets an event wait that could not be told, and what comes after it in its repository; or gives it up. */
async function putOff(ctx: Ctx, turn: Turn, row: EventRow): Promise<void> {
  turn.spend(1);
  if (row.tellAttempts >= DISPATCH_ATTEMPTS_MAX) {
    giveUp(row);
    await settle(ctx, [row]);
    return;
  }
  const delayMs = Math.min(DELAY_MS * 4 ** (row.tellAttempts - 1), DELAY_MS_MAX);
  await ctx.db
    .update(events)
    .set({ tellAt: turn.now + delayMs })
    .where(areMine([row]));
}

/** The condition for those of some events that were not claimed by somebody else since. */
const areMine = (rows: readonly EventRow[]): SQL => sql`(${events.id}, ${events.tellAt}) in (
  select value ->> 'id', value ->> 'tellAt'
  from json_each(${JSON.stringify(rows.map(({ id, tellAt }) => ({ id, tellAt })))})
)`;
