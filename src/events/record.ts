import { is, SQL, sql } from "drizzle-orm";

import type { Ctx } from "../context.ts";
import type { Database } from "../db/db.ts";
import { insertSelect } from "../db/insert-select.ts";
import { events } from "../db/schema/index.ts";
import type { EventKind } from "../shapes/events/event.ts";
import type { Event } from "./event.ts";
import { hasWebhookEvents } from "./webhooks/payloads/webhook-event.ts";

/** Numbers of rows that the same batch inserts are known as SQL only. */
type OrSql<T> = { [K in keyof T]: T[K] extends number ? number | SQL : T[K] };
type Recordable = Event extends infer E ? (E extends Event ? OrSql<E> : never) : never;

/**
 * The statement that records what happened. It belongs into the batch of the change: nothing is
 * told that was not stored, and nothing is stored untold.
 */
export function record(ctx: Ctx, event: Recordable) {
  ctx.eventQueues.noteRecorded();
  return insertEvent(originOf(ctx), event, sql`1`);
}

/** On whose behalf something happened, and when. */
interface EventOrigin {
  db: Database;
  /** 0 for nobody. */
  actorId: number;
  /** In milliseconds. */
  now: number;
  /** Where the service was reached; "" where the configuration says it. */
  rootUrl: string;
}

const originOf = ({ db, actor, now, config, rootUrl }: Ctx): EventOrigin => ({
  db,
  now,
  actorId: actor.user?.id ?? 0,
  rootUrl: config.rootUrl === "" ? rootUrl : "",
});

/**
 * The same for several events, in their order, which may have happened earlier, by somebody else than the
 * caller. What they tell must be known, and all of it together be less than 2 MB, the most that one value
 * of the database holds.
 */
export function recordAll({ db, actorId, now, rootUrl }: EventOrigin, all: readonly Event[]) {
  const rows = all.map((event) => {
    const { type, ownerId, repoId, ...payload } = { repoId: null, ...event };
    return { type, ownerId, repoId, payload, dispatchAt: hasWebhookEvents(type) ? now : null };
  });
  const columns = {
    type: sql`value ->> 'type'`,
    actorId,
    ownerId: sql`value ->> 'ownerId'`,
    repoId: sql`value ->> 'repoId'`,
    payload: sql`value ->> 'payload'`,
    createdAt: now,
    dispatchAt: sql`value ->> 'dispatchAt'`,
    rootUrl: sql`iif(value ->> 'dispatchAt' is null, '', ${rootUrl})`,
  };
  const from = sql`from json_each(${JSON.stringify(rows)}) where true order by key`;
  return insertSelect(db, events, columns, from).onConflictDoNothing();
}

/**
 * The same, for a change that may turn out to change nothing: the event is written only if the
 * statement just before it in the batch changed a row.
 */
export function recordIfChanged(ctx: Ctx, event: Recordable) {
  ctx.eventQueues.noteRecorded();
  return insertEvent(originOf(ctx), event, sql`changes() > 0`);
}

/** What has an id of its own, as a push has, is recorded once however often it is told. */
function insertEvent(
  { db, actorId, now, rootUrl }: EventOrigin,
  event: Recordable,
  condition: SQL,
) {
  const { type, ownerId, repoId, ...fields } = { repoId: null, ...event };
  const columns = {
    type: type satisfies EventKind,
    actorId,
    ownerId,
    repoId,
    payload: toJson(fields),
    createdAt: now,
    dispatchAt: hasWebhookEvents(type) ? now : null,
    rootUrl,
  };
  return insertSelect(db, events, columns, sql`where ${condition}`).onConflictDoNothing();
}

function toJson(fields: object): SQL {
  const known = Object.entries(fields).filter(([, value]) => !is(value, SQL));
  const made = Object.entries(fields).filter(([, value]) => is(value, SQL));
  return made.reduce(
    (json, [name, value]) => sql`json_set(${json}, ${`$.${name}`}, ${value})`,
    sql`${JSON.stringify(Object.fromEntries(known))}`,
  );
}
