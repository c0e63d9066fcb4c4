import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

import type { Visibility } from "./accounts.ts";

/**
 * The event types that activity feeds show, as SQL: the indexes of the feeds contain only these, so
 * that frequent events that no feed shows, like commit statuses, do not slow the feeds down.
 */
export const ACTIVITY_KINDS = sql.raw(
  "('repository.created', 'repository.forked', 'repository.renamed', 'repository.transferred', 'repository.pushed', 'star.created', 'watch.created', 'issue.opened', 'issue.closed', 'issue.reopened', 'comment.created', 'pull.merged', 'pull.ready', 'review.submitted', 'review.dismissed', 'release.published')",
);

/**
 * Events, in the order in which they happened. A row outlives its subject, so it has no foreign
 * keys.
 */
export const events = sqliteTable(
  "events",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    type: text().notNull(),
    actorId: integer().notNull(),
    /**
     * The account that the event belongs to: the repository's owner, the organization, or the user.
     */
    ownerId: integer().notNull(),
    repoId: integer(),
    /**
     * The repository's `visibility` and `isPrivate` when the event was recorded: what happened
     * while a repository was private stays hidden from readers who could not see it.
     */
    visibility: text().$type<Visibility>().notNull().default("private"),
    isPrivate: integer({ mode: "boolean" }).notNull().default(true),
    payload: text({ mode: "json" }).$type<Record<string, unknown>>().notNull(),
    createdAt: integer().notNull(),
    /**
     * When the event is due to be dispatched to hooks, at first when it was recorded; null if it
     * was dispatched or has no webhook events.
     */
    dispatchAt: integer(),
    /** Attempts to dispatch it. */
    dispatchAttempts: integer().notNull().default(0),
    /** When the event's consequences are due; null if they are drawn, or if it has none. */
    consequencesAt: integer(),
    /** Attempts to draw its consequences since they last advanced. */
    consequenceAttempts: integer().notNull().default(0),
    /** How far its consequences are drawn, by consequence; null before the first one. */
    consequenceProgress: text({ mode: "json" }).$type<ConsequenceProgress>(),
    /** Public URL of the service, for the URLs in payloads; "" if the configuration has one. */
    rootUrl: text().notNull().default(""),
  },
  (table) => [
    // An index ends with the id by itself: a column of it would be a second one.
    index("events_repo").on(table.repoId),
    // What is to be dispatched or has consequences: one entry for both.
    index("events_pending")
      .on(table.id)
      .where(sql`${table.dispatchAt} is not null or ${table.consequencesAt} is not null`),
    // Those that were leased or postponed: the later ones of their repository wait for them.
    index("events_leased")
      .on(table.repoId)
      .where(
        sql`${table.dispatchAt} > ${table.createdAt}
          or ${table.consequencesAt} > ${table.createdAt}`,
      ),
    index("events_owner").on(table.ownerId),
    // One index for each feed, latest first.
    index("events_activity_actor")
      .on(table.actorId, table.createdAt)
      .where(sql`${table.type} in ${ACTIVITY_KINDS}`),
    index("events_activity_repo")
      .on(table.repoId, table.createdAt)
      .where(sql`${table.type} in ${ACTIVITY_KINDS}`),
    index("events_activity_owner")
      .on(table.ownerId, table.createdAt)
      .where(sql`${table.type} in ${ACTIVITY_KINDS}`),
    // A push is recorded again if the outcome of the first attempt is unknown; the second attempt
    // inserts nothing.
    uniqueIndex("events_push")
      .on(sql`${table.payload} ->> 'pushId'`, sql`${table.payload} ->> 'part'`)
      .where(sql`${table.type} = 'repository.pushed'`),
    uniqueIndex("events_wiki_push")
      .on(sql`${table.payload} ->> 'pushId'`)
      .where(sql`${table.type} = 'wiki.changed'`),
  ],
);
export type EventRow = typeof events.$inferSelect;

/**
 * The consequences of an event that were begun, by name: the state to continue with, or null for
 * those that are drawn.
 */
export type ConsequenceProgress = Record<string, unknown>;

/** Positions of the consumers that read all events in order. */
export const eventCursors = sqliteTable("event_cursors", {
  name: text().primaryKey(),
  /** The id of the last event that was read; 0 for none. */
  lastId: integer().notNull(),
});
