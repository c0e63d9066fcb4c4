import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

/**
 * Kinds that feeds of activity show, as SQL: indexes hold these alone, so that what is told often and
 * shown nowhere, like the states of commits, keeps no feed waiting.
 */
export const ACTIVITY_KINDS = sql.raw(
  "('repository.created', 'repository.forked', 'repository.renamed', 'repository.pushed', 'star.created', 'watch.created')",
);

/**
 * What happened, in the order it happened. A row outlives what it speaks of, so it refers to
 * nothing by foreign key.
 */
export const events = sqliteTable(
  "events",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    type: text().notNull(),
    actorId: integer().notNull(),
    /** The account it belongs to: a repository's owner, an organization, or the user. */
    ownerId: integer().notNull(),
    repoId: integer(),
    payload: text({ mode: "json" }).$type<Record<string, unknown>>().notNull(),
    createdAt: integer().notNull(),
    /** When hooks are to be told of it, null where they were or need not be. */
    dispatchAt: integer(),
    /** How often that was begun. */
    dispatchAttempts: integer().notNull().default(0),
    /** Where the service was reached, for the addresses in what is told; "" where the configuration says it. */
    rootUrl: text().notNull().default(""),
  },
  (table) => [
    index("events_repo").on(table.repoId, table.id),
    index("events_undispatched")
      .on(table.id, table.dispatchAt)
      .where(sql`${table.dispatchAt} is not null`),
    index("events_undispatched_repo")
      .on(table.repoId, table.id, table.dispatchAt)
      .where(sql`${table.dispatchAt} is not null`),
    index("events_owner").on(table.ownerId, table.id),
    // One index for each feed, latest first.
    index("events_activity_actor")
      .on(table.actorId, table.createdAt, table.id)
      .where(sql`${table.type} in ${ACTIVITY_KINDS}`),
    index("events_activity_repo")
      .on(table.repoId, table.createdAt, table.id)
      .where(sql`${table.type} in ${ACTIVITY_KINDS}`),
    index("events_activity_owner")
      .on(table.ownerId, table.createdAt, table.id)
      .where(sql`${table.type} in ${ACTIVITY_KINDS}`),
    // A push is told again where nobody knows whether it was: the second time changes nothing.
    uniqueIndex("events_push")
      .on(sql`${table.payload} ->> 'pushId'`, sql`${table.payload} ->> 'part'`)
      .where(sql`${table.type} = 'repository.pushed'`),
  ],
);
export type EventRow = typeof events.$inferSelect;

/** How far those have come who read all events in their order. */
export const eventCursors = sqliteTable("event_cursors", {
  name: text().primaryKey(),
  /** Of the last event that was read; 0 for none. */
  lastId: integer().notNull(),
});
