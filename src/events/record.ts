import { type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";

import type { Ctx } from "../context.ts";
import type { Database } from "../db/db.ts";
import { insertSelect } from "../db/insert-select.ts";
import { jsonOf } from "../db/json-of.ts";
import { type Params, prepare } from "../db/prepared.ts";
import { events, repositories, type Repository, type Visibility } from "../db/schema/index.ts";
import type { EventKind } from "../shapes/events/event.ts";
import type { Event } from "./event.ts";
import { hasConsequences } from "./consequence.ts";
import { hasWebhookEvents } from "./webhooks/payloads/webhook-event.ts";

/** Ids of rows that the same batch inserts are known as SQL only. */
type OrSql<T> = {
  [K in keyof T]: T[K] extends number | null | readonly number[] ? T[K] | SQL : T[K];
};
type Recordable = Event extends infer E ? (E extends Event ? OrSql<E> : never) : never;

/**
 * The statement that records an event. It belongs into the batch of the change, so that the event is stored
 * exactly if the change is.
 */
export function record(ctx: Ctx, event: Recordable) {
  ctx.eventQueues.noteRecorded(ctx.db);
  return insertEvent(originOf(ctx), event, sql`where true`);
}

/**
 * Like `record`, for each row of a select, whose columns the event may contain.
 *
 * @param from The clauses after the selected columns: `from … where …`.
 */
export function recordEach(ctx: Ctx, event: Recordable, from: SQL) {
  ctx.eventQueues.noteRecorded(ctx.db);
  return insertEvent(originOf(ctx), event, from);
}

/** What `record` takes of a context, for a query that is prepared. */
export type OriginArgument = Pick<EventOrigin, "actorId" | "now" | "rootUrl">;

/** The arguments of a prepared query with `recordBy`. They note that an event is being recorded. */
export function originArgument(ctx: Ctx): OriginArgument {
  ctx.eventQueues.noteRecorded(ctx.db);
  const { actorId, now, rootUrl } = originOf(ctx);
  return { actorId, now, rootUrl };
}

/** Like `record`, in a query that is prepared. */
export const recordBy = (db: Database, origin: Params<OriginArgument>, event: Recordable) =>
  insertEvent({ db, ...origin }, event, sql`where true`);

/** The actor of an event, and when and where it was recorded. */
export interface EventOrigin {
  db: Database;
  /** 0 for none. */
  actorId: number;
  /** In milliseconds. */
  now: number;
  /** The public URL at the time of the event; "" if the configuration has one. */
  rootUrl: string;
  /** The visibility of the repository when an event happened that is recorded later. */
  visibility?: RecordedVisibility;
}

type RecordedVisibility = Pick<Repository, "visibility" | "isPrivate">;

/** The origin of what a caller does. */
export const originOf = ({ db, actor, now, config, publicUrl }: Ctx): EventOrigin => ({
  db,
  now,
  actorId: actor.user?.id ?? 0,
  rootUrl: config.publicUrl === "" ? publicUrl : "",
});

/**
 * Records several events, in order, which may be earlier events of a different actor than the caller. All
 * their fields must be values, not SQL, and together take less than 2 MB, the limit of one bound value in
 * D1.
 */
export function recordAll(origin: EventOrigin, all: readonly Event[]) {
  return insertEvents(origin.db, toArguments(origin, all, false));
}

/** Events as a prepared query has them. */
interface EventsArguments extends OriginArgument {
  /** JSON. */
  readonly rows: string;
  readonly isIfChanged: boolean;
  readonly before: RecordedVisibilityArgument | undefined;
}

/** As a number, since whether a repository was private does not decide about the text. */
type RecordedVisibilityArgument = { readonly visibility: Visibility; readonly isPrivate: 0 | 1 };

function toArguments(
  { actorId, now, rootUrl, visibility: before }: EventOrigin,
  all: readonly Event[],
  isIfChanged: boolean,
): EventsArguments {
  const rows = all.map((event) => {
    const { type, ownerId, repoId, ...payload } = { repoId: null, ...event };
    const dispatchAt = hasWebhookEvents(type) ? now : null;
    const consequencesAt = hasConsequences(type) ? now : null;
    return { type, ownerId, repoId, payload, dispatchAt, consequencesAt };
  });
  return {
    actorId,
    now,
    rootUrl,
    rows: JSON.stringify(rows),
    isIfChanged,
    before: before && { visibility: before.visibility, isPrivate: before.isPrivate ? 1 : 0 },
  };
}

const insertEvents = prepare((db, p: Params<EventsArguments>) => {
  const { actorId, now, rootUrl, rows, isIfChanged, before } = p;
  const columns = {
    type: sql`value ->> 'type'`,
    actorId,
    ownerId: sql`value ->> 'ownerId'`,
    repoId: sql`value ->> 'repoId'`,
    ...visibilityColumns(sql`value ->> 'repoId'`, before),
    payload: sql`value ->> 'payload'`,
    createdAt: now,
    dispatchAt: sql`value ->> 'dispatchAt'`,
    consequencesAt: sql`value ->> 'consequencesAt'`,
    rootUrl: sql`iif(
      coalesce(value ->> 'dispatchAt', value ->> 'consequencesAt') is null, '', ${rootUrl}
    )`,
  };
  const condition = isIfChanged ? sql`changes() > 0` : sql`true`;
  const from = sql`from json_each(${rows}) where ${condition} order by key`;
  return insertSelect(db, events, columns, from).onConflictDoNothing();
});

/**
 * Like `record`, for a change that may turn out to change nothing: the event is inserted only if the
 * previous statement of the batch changed a row.
 *
 * @param then The visibility of the repository before the change, if the change concerns it: the event is shown to
 * those who saw the repository before and see it now.
 */
export function recordIfChanged(ctx: Ctx, event: Recordable, then?: RecordedVisibility) {
  ctx.eventQueues.noteRecorded(ctx.db);
  const origin = { ...originOf(ctx), ...(then && { visibility: then }) };
  return insertEvent(origin, event, sql`where changes() > 0`);
}

/** Like `recordIfChanged`, for an earlier event of a different actor than the caller. */
export const recordIfChangedSince = (origin: EventOrigin, event: Event) =>
  insertEvents(origin.db, toArguments(origin, [event], true));

/** Like `recordIfChanged`, for several events of one change. */
export function recordAllIfChanged(ctx: Ctx, all: readonly Event[]) {
  ctx.eventQueues.noteRecorded(ctx.db);
  return insertEvents(ctx.db, toArguments(originOf(ctx), all, true));
}

/** An event with an id of its own, like a push, is recorded once, however often this is repeated. */
function insertEvent(
  {
    db,
    actorId,
    now,
    rootUrl,
    visibility,
  }: OrSql<Pick<EventOrigin, "actorId" | "now">> &
    Pick<EventOrigin, "db" | "visibility"> & { rootUrl: string | SQL },
  event: Recordable,
  from: SQL,
) {
  const { type, ownerId, repoId, ...fields } = { repoId: null, ...event };
  const columns = {
    type: type satisfies EventKind,
    actorId,
    ownerId,
    repoId,
    ...visibilityColumns(sql`${repoId}`, visibility),
    payload: jsonOf(fields),
    createdAt: now,
    dispatchAt: hasWebhookEvents(type) ? now : null,
    consequencesAt: hasConsequences(type) ? now : null,
    rootUrl,
  };
  return insertSelect(db, events, columns, from).onConflictDoNothing();
}

/**
 * The visibility of an event's repository at this point of the batch, or the one when the event happened if that was
 * less visible. An event without a repository has no use for it.
 */
function visibilityColumns(
  repoId: SQL,
  then?: { visibility: Visibility | SQL; isPrivate: boolean | SQL },
) {
  const { visibility, isPrivate } = repositories;
  const ofRepository = (column: SQLiteColumn): SQL => sql`(
    select ${column}
    from ${repositories}
    where ${repositories.id} = ${repoId}
  )`;
  const now = sql`coalesce(${ofRepository(visibility)}, 'private')`;
  return {
    visibility: sql`case
      when 'private' in (${then?.visibility ?? "public"}, ${now}) then 'private'
      when 'limited' in (${then?.visibility ?? "public"}, ${now}) then 'limited'
      else 'public'
    end`,
    isPrivate: sql`coalesce(${ofRepository(isPrivate)}, true) or ${then?.isPrivate ?? false}`,
  };
}
