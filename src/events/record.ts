import { is, SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";

import type { Ctx } from "../context.ts";
import type { Database } from "../db/db.ts";
import { insertSelect } from "../db/insert-select.ts";
import { LAST_INSERT_ID, splitFields, withFields } from "../db/json-of.ts";
import { type Params, prepare } from "../db/prepared.ts";
import { events, repositories, type Repository, type Visibility } from "../db/schema/index.ts";
import type { EventKind } from "../shapes/events/event.ts";
import type { Event } from "./event.ts";
import { hasConsequences } from "./consequence.ts";
import { dispatchAtOf } from "./webhooks/may-have-hooks.ts";
import { hasWebhookEvents } from "./webhooks/payloads/webhook-event.ts";

/** Ids of rows that the same batch inserts are known as SQL only. */
type OrSql<T> = {
  [K in keyof T]: T[K] extends number | boolean | null | readonly number[] ? T[K] | SQL : T[K];
};
type Recordable = Event extends infer E ? (E extends Event ? OrSql<E> : never) : never;

/**
 * Where an event is recorded: in any case, or if the previous statement of the batch changed a row.
 */
const ALWAYS = sql`where true`;
export const IF_CHANGED: SQL = sql`where changes() > 0`;

/**
 * The statement that records an event. It belongs into the batch of the change, so that the event
 * is stored exactly if the change is.
 */
export function record(ctx: Ctx, event: Recordable) {
  const argument = eventArgument(ctx, event);
  const { computed } = splitFields(event);
  return isKnown(computed)
    ? insertKnown(ctx.db, { ...argument, lastIds: toFlags(computed), isIfChanged: false })
    : insertEvent(ctx.db, argument, computed, ALWAYS);
}

/**
 * Like `record`, for each row of a select, whose columns the event may contain.
 *
 * @param from The clauses after the selected columns: `from … where …`.
 */
export const recordEach = (ctx: Ctx, event: Recordable, from: SQL) =>
  insertEvent(ctx.db, eventArgument(ctx, event), splitFields(event).computed, from);

/** An event as an argument of a prepared query, without the fields that the query computes. */
export interface EventArgument {
  readonly type: EventKind;
  readonly actorId: number;
  readonly ownerId?: number;
  readonly repoId?: number | null;
  /** JSON. */
  readonly payload: string;
  /** In milliseconds. */
  readonly now: number;
  readonly dispatchAt: number | null;
  readonly consequencesAt: number | null;
  readonly rootUrl: string;
}

/**
 * An event for `recordBy`. It notes that an event is being recorded.
 *
 * @param event Fields that are SQL are left out: `COMPUTED` for each that the query computes.
 */
export function eventArgument(ctx: Ctx, event: Recordable): EventArgument {
  const argument = unnotedArgument(ctx, event);
  const { dispatchAt, consequencesAt } = argument;
  ctx.eventQueues.noteRecorded(dispatchAt !== null || consequencesAt !== null);
  return argument;
}

/**
 * The same of an event from which mostly nothing follows: the caller notes it where its statement
 * returned that something is due.
 */
export function unnotedArgument(ctx: Ctx, event: Recordable): EventArgument {
  const { actorId, now, rootUrl } = originOf(ctx);
  const { type, ownerId, repoId, ...fields } = { repoId: null, ...event };
  return {
    type,
    actorId,
    ...(!is(ownerId, SQL) && { ownerId }),
    ...(!is(repoId, SQL) && { repoId }),
    payload: JSON.stringify(splitFields(fields).known),
    now,
    dispatchAt: hasWebhookEvents(type) ? now : null,
    consequencesAt: hasConsequences(type) ? now : null,
    rootUrl,
  };
}

/**
 * Like `recordEach`, in a query that is prepared.
 *
 * @param computed The fields that the argument lacks.
 * @param later    The visibility of the event's repository, where a later statement of the batch
 *   gives it.
 */
export const recordBy = (
  db: Database,
  event: OrSlots<EventArgument>,
  computed: Readonly<Record<string, SQL>> = {},
  from: SQL = ALWAYS,
  later?: VisibilityColumns,
) => insertEvent(db, event, computed, from, { later });

/** Each value as itself, or as the parameter of a prepared query. */
type OrSlots<T> = { readonly [K in keyof T]: T[K] | SQL };

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

type VisibilityColumns = Readonly<Record<keyof RecordedVisibility, SQL>>;

type RecordedVisibility = Pick<Repository, "visibility" | "isPrivate">;

/** The origin of what a caller does. */
export const originOf = ({ db, actor, now, config, publicUrl }: Ctx): EventOrigin => ({
  db,
  now,
  actorId: actor.user?.id ?? 0,
  rootUrl: config.publicUrl === "" ? publicUrl : "",
});

/**
 * Records several events, in order, which may be earlier events of a different actor than the
 * caller. All their fields must be values, not SQL, and together take less than 2 MB, the limit of
 * one bound value in D1.
 */
export function recordAll(origin: EventOrigin, all: readonly Event[]) {
  return insertEvents(origin.db, toArguments(origin, all, false));
}

/** Events as a prepared query has them. */
interface EventsArguments extends Pick<EventOrigin, "actorId" | "now" | "rootUrl"> {
  /** JSON. */
  readonly rows: string;
  readonly isIfChanged: boolean;
  readonly before: VisibilityArgument | undefined;
}

/** As a number, since whether a repository was private does not decide about the text. */
interface VisibilityArgument {
  readonly visibility: Visibility;
  readonly isPrivate: 0 | 1;
}

const toVisibilityArgument = ({
  visibility,
  isPrivate,
}: RecordedVisibility): VisibilityArgument => ({ visibility, isPrivate: isPrivate ? 1 : 0 });

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
    before: before && toVisibilityArgument(before),
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
    dispatchAt: dispatchAtOf(
      {
        type: sql`value ->> 'type'`,
        repoId: sql`value ->> 'repoId'`,
        ownerId: sql`value ->> 'ownerId'`,
      },
      sql`value ->> 'dispatchAt'`,
    ),
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
 * Like `record`, for a change that may turn out to change nothing: the event is inserted only if
 * the previous statement of the batch changed a row.
 *
 * @param then The visibility of the repository before the change, if the change concerns it: the
 * event is shown to those who saw the repository before and see it now.
 */
export function recordIfChanged(ctx: Ctx, event: Recordable, then?: RecordedVisibility) {
  const argument = eventArgument(ctx, event);
  const before = then && toVisibilityArgument(then);
  const { computed } = splitFields(event);
  return isKnown(computed)
    ? insertKnown(ctx.db, { ...argument, lastIds: toFlags(computed), isIfChanged: true, before })
    : insertEvent(ctx.db, argument, computed, IF_CHANGED, { before });
}

/** Like `recordIfChanged`, for an earlier event of a different actor than the caller. */
export const recordIfChangedSince = (origin: EventOrigin, event: Event) =>
  insertEvents(origin.db, toArguments(origin, [event], true));

/** Like `recordIfChanged`, for several events of one change. */
export function recordAllIfChanged(ctx: Ctx, all: readonly Event[]) {
  ctx.eventQueues.noteRecorded();
  return insertEvents(ctx.db, toArguments(originOf(ctx), all, true));
}

/** An event whose fields are all known, or `LAST_INSERT_ID`, as a prepared query has it. */
interface KnownEvent extends EventArgument {
  /** The names of the latter. */
  readonly lastIds: Readonly<Record<string, boolean>>;
  readonly isIfChanged: boolean;
  readonly before?: VisibilityArgument | undefined;
}

const insertKnown = prepare(
  (db, { lastIds, isIfChanged, before, ...event }: Params<KnownEvent>) => {
    const ids = Object.keys(lastIds).map((name) => [name, LAST_INSERT_ID] as const);
    const from = isIfChanged ? IF_CHANGED : ALWAYS;
    return insertEvent(db, event, Object.fromEntries(ids), from, { before });
  },
);

const isKnown = (computed: Readonly<Record<string, SQL>>): boolean =>
  Object.values(computed).every((each) => each === LAST_INSERT_ID);

const toFlags = (computed: object): Record<string, true> =>
  Object.fromEntries(Object.keys(computed).map((name) => [name, true as const]));

/** The visibility of a repository at another time than that of the statement. */
interface OtherVisibility {
  readonly before?: OrSlots<VisibilityArgument> | undefined;
  readonly later?: VisibilityColumns | undefined;
}

/**
 * An event with an id of its own, like a push, is recorded once, however often this is repeated.
 */
function insertEvent(
  db: Database,
  event: OrSlots<EventArgument>,
  computed: Readonly<Record<string, SQL>>,
  from: SQL,
  { before, later }: OtherVisibility = {},
) {
  const { ownerId = event.ownerId, repoId = event.repoId, ...fields } = computed;
  const columns = {
    type: event.type,
    actorId: event.actorId,
    ownerId: sql`${ownerId}`,
    repoId: sql`${repoId}`,
    ...(later ?? visibilityColumns(sql`${repoId}`, before)),
    payload: withFields(event.payload, fields),
    createdAt: event.now,
    dispatchAt: dispatchAtOf(
      { type: sql`${event.type}`, repoId: sql`${repoId}`, ownerId: sql`${ownerId}` },
      sql`${event.dispatchAt}`,
    ),
    consequencesAt: event.consequencesAt,
    rootUrl: event.rootUrl,
  };
  return insertSelect(db, events, columns, from).onConflictDoNothing();
}

/**
 * The visibility of an event's repository at this point of the batch, or the one when the event
 * happened if that was less visible. An event without a repository has no use for it.
 */
function visibilityColumns(repoId: SQL, then?: OrSlots<VisibilityArgument>): VisibilityColumns {
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
    isPrivate: sql`coalesce(${ofRepository(isPrivate)}, true) or ${then?.isPrivate ?? 0}`,
  };
}
