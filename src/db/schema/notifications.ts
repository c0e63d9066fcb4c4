import { sql } from "drizzle-orm";
import {
  check,
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";

import { users } from "./accounts.ts";
import { issues } from "./issues.ts";
import { releases } from "./releases.ts";
import { repositories } from "./repositories.ts";

/** The notifications of users: one thread for each user and subject. */
export const notifications = sqliteTable(
  "notifications",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    userId: integer()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    /** No foreign key, see `repositoryRemains`. */
    repoId: integer().notNull(),
    subject: text().$type<"issue" | "pull" | "commit" | "repository" | "release">().notNull(),
    /** The issue or pull request; null for other subjects. */
    issueId: integer().references(() => issues.id, { onDelete: "cascade" }),
    commitOid: text().notNull().default(""),
    /** Null for other subjects. */
    releaseId: integer().references(() => releases.id, { onDelete: "cascade" }),
    status: text().$type<NotificationStatus>().notNull(),
    /** The latest comment that it reports; null for none. Outlives the comment. */
    entryId: integer(),
    /** The last event that it reports, so that an event that is handled again changes nothing. */
    eventId: integer().notNull().default(0),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
  },
  (table) => [
    uniqueIndex("notifications_issue")
      .on(table.userId, table.issueId)
      .where(sql`${table.issueId} is not null`),
    uniqueIndex("notifications_release")
      .on(table.userId, table.releaseId)
      .where(sql`${table.releaseId} is not null`),
    uniqueIndex("notifications_of_itself")
      .on(table.userId, table.repoId)
      .where(sql`${table.subject} = 'repository'`),
    // The orders of the lists, which are merged from one range for each status and subject.
    index("notifications_by_updated").on(
      table.userId,
      table.status,
      table.subject,
      table.updatedAt,
      table.id,
      table.repoId,
    ),
    index("notifications_repo").on(
      table.userId,
      table.repoId,
      table.status,
      table.subject,
      table.updatedAt,
      table.id,
    ),
    // For the removal of what was read long ago.
    index("notifications_read")
      .on(table.updatedAt)
      .where(sql`${table.status} = 'read'`),
    index("notifications_of_issue").on(table.issueId),
    index("notifications_of_release")
      .on(table.releaseId)
      .where(sql`${table.releaseId} is not null`),
    index("notifications_of_repo").on(table.repoId),
    check("notifications_status", sql`${table.status} in ('unread', 'read', 'pinned')`),
  ],
);
export type Notification = typeof notifications.$inferSelect;

/**
 * The number of notifications of a user in a repository. Maintained by triggers: a total is summed
 * over the repositories that the user may still see, without reading a notification.
 */
export const notificationCounts = sqliteTable(
  "notification_counts",
  {
    userId: integer()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    repoId: integer()
      .notNull()
      .references(() => repositories.id, { onDelete: "cascade" }),
    subject: text().$type<Notification["subject"]>().notNull(),
    status: text().$type<NotificationStatus>().notNull(),
    /** Never 0: the row is deleted instead. */
    count: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.userId, table.status, table.repoId, table.subject] }),
    index("notification_counts_repo").on(table.repoId),
  ],
);
export type NotificationStatus = "unread" | "read" | "pinned";
