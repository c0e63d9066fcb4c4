import { sql } from "drizzle-orm";
import {
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";

import { issues } from "./issues.ts";
import { type RefAction, timelineEntries, type TimelineKind } from "./timeline.ts";

// What relates issues of repositories in different databases: docs/sharding.md says how it is kept right.

/** Issues that can't be closed before others of another database. In the database of the blocked issue. */
export const crossShardDependencies = sqliteTable(
  "cross_shard_dependencies",
  {
    /** The blocked issue. */
    issueId: integer()
      .notNull()
      .references(() => issues.id, { onDelete: "cascade" }),
    /** The issue that blocks it, its repository, and when it was created, by which lists are sorted. */
    blockerId: integer().notNull(),
    blockerRepoId: integer().notNull(),
    blockerCreatedAt: integer().notNull(),
    /** False while it is searched whether it closes a circle: then only other such searches see it. */
    isChecked: integer({ mode: "boolean" }).notNull().default(false),
    createdAt: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.issueId, table.blockerId] }),
    index("cross_shard_dependencies_blocker").on(table.blockerId),
  ],
);

/** The issue or comment of another database that an entry of a timeline tells of. */
export const crossShardReferences = sqliteTable(
  "cross_shard_references",
  {
    entryId: integer()
      .primaryKey()
      .references(() => timelineEntries.id, { onDelete: "cascade" }),
    /** The row of `crossShardEntries` by which the entry was sent; null for one that was made here. */
    sentId: integer(),
    repoId: integer().notNull(),
    issueId: integer().notNull(),
    isPull: integer({ mode: "boolean" }).notNull(),
    /** Null if it is the issue itself. */
    commentId: integer(),
  },
  (table) => [
    uniqueIndex("cross_shard_references_sent")
      .on(table.sentId)
      .where(sql`${table.sentId} is not null`),
    index("cross_shard_references_issue").on(table.issueId),
  ],
);

export type CrossShardReference = typeof crossShardReferences.$inferSelect;

/**
 * Entries in timelines of other databases that tell of issues and comments of this one. Triggers make those of what is deleted `gone`.
 */
export const crossShardEntries = sqliteTable(
  "cross_shard_entries",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    /** What it tells of. */
    repoId: integer().notNull(),
    issueId: integer().notNull(),
    isPull: integer({ mode: "boolean" }).notNull(),
    /** Null if it is the issue itself. */
    commentId: integer(),
    /** The issue with the timeline. */
    toRepoId: integer().notNull(),
    toIssueId: integer().notNull(),
    toNumber: integer().notNull(),
    kind: text().$type<TimelineKind>().notNull(),
    refAction: text().$type<RefAction>().notNull().default("none"),
    /** Null for none. */
    posterId: integer(),
    state: text().$type<"unsent" | "sent" | "gone">().notNull().default("unsent"),
    /** When it is sent, or removed there, or that is repeated; null if there is nothing to do. */
    dueAt: integer(),
    attempts: integer().notNull().default(0),
    createdAt: integer().notNull(),
  },
  (table) => [
    index("cross_shard_entries_due")
      .on(table.dueAt)
      .where(sql`${table.dueAt} is not null`),
    index("cross_shard_entries_issue").on(table.issueId),
    index("cross_shard_entries_comment")
      .on(table.commentId)
      .where(sql`${table.commentId} is not null`),
  ],
);
export type CrossShardEntry = typeof crossShardEntries.$inferSelect;
