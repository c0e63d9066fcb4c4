import { sql } from "drizzle-orm";
import {
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";

import { users } from "./accounts.ts";
import { milestones } from "./milestones.ts";

/**
 * Issues and pull requests, which share one number sequence per repository.
 *
 * Triggers count open and closed ones in their repository, milestone and labels.
 */
export const issues = sqliteTable(
  "issues",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    /**
     * No foreign key: rows of a deleted repository are removed in steps, see `repositoryRemains`.
     */
    repoId: integer().notNull(),
    /** The `lastIssueNumber` of its repository when it was inserted; never reused. */
    number: integer().notNull(),
    isPull: integer({ mode: "boolean" }).notNull().default(false),
    /** Null if the account was deleted. */
    posterId: integer().references(() => users.id, { onDelete: "set null" }),
    /** The name and id of its author on the server that it was migrated from. */
    originalAuthor: text().notNull().default(""),
    originalAuthorId: integer().notNull().default(0),
    title: text().notNull(),
    body: text().notNull().default(""),
    /** Increases with each edit of the body. */
    contentVersion: integer().notNull().default(0),
    /** The full name of the branch or tag that it is about; "" for none. */
    ref: text().notNull().default(""),
    isClosed: integer({ mode: "boolean" }).notNull().default(false),
    closedAt: integer(),
    isLocked: integer({ mode: "boolean" }).notNull().default(false),
    milestoneId: integer().references(() => milestones.id, { onDelete: "set null" }),
    deadlineAt: integer(),
    timeEstimateSeconds: integer().notNull().default(0),
    /** The number of its timeline entries of kind `comment`. Maintained by triggers. */
    commentCount: integer().notNull().default(0),
    /**
     * Increases with each edit of a comment, with each reaction that is given or taken back, and
     * with each conversation about code that is resolved or reopened. Maintained by triggers.
     */
    conversationVersion: integer().notNull().default(0),
    /**
     * Its position among the pinned issues or pull requests of the repository, from 1; 0 if not
     * pinned.
     */
    pinOrder: integer().notNull().default(0),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
  },
  (table) => [
    uniqueIndex("issues_number").on(table.repoId, table.number),
    // One index for each order of the lists; "newest" is the order of numbers.
    index("issues_by_number").on(table.repoId, table.isPull, table.isClosed, table.number),
    index("issues_by_updated").on(table.repoId, table.isPull, table.isClosed, table.updatedAt),
    index("issues_by_comments").on(table.repoId, table.isPull, table.isClosed, table.commentCount),
    index("issues_by_deadline").on(table.repoId, table.isPull, table.isClosed, table.deadlineAt),
    index("issues_by_closed").on(table.repoId, table.isPull, table.isClosed, table.closedAt),
    // Searches over all repositories; "newest" is the order of ids.
    index("issues_newest").on(table.isPull, table.isClosed),
    index("issues_poster").on(
      table.posterId,
      table.repoId,
      table.isPull,
      table.isClosed,
      table.number,
    ),
    index("issues_poster_newest").on(table.posterId, table.isPull, table.isClosed),
    index("issues_milestone")
      .on(table.milestoneId, table.isPull, table.isClosed, table.number)
      .where(sql`${table.milestoneId} is not null`),
    index("issues_pinned")
      .on(table.repoId, table.isPull, table.pinOrder)
      .where(sql`${table.pinOrder} > 0`),
  ],
);
export type Issue = typeof issues.$inferSelect;

/** Rows about an issue and a user, at most one for both. */
const ofIssueAndUser = () => ({
  issueId: integer()
    .notNull()
    .references(() => issues.id, { onDelete: "cascade" }),
  userId: integer()
    .notNull()
    .references(() => users.id, { onDelete: "cascade" }),
});

/**
 * Copied from the issue, so that one index serves the lists by user. Maintained by triggers, from
 * the insert on.
 */
const ofListedIssue = () => ({
  repoId: integer().notNull(),
  isPull: integer({ mode: "boolean" }).notNull().default(false),
  isClosed: integer({ mode: "boolean" }).notNull().default(false),
});

export const issueAssignees = sqliteTable(
  "issue_assignees",
  { ...ofIssueAndUser(), ...ofListedIssue(), createdAt: integer().notNull() },
  (table) => [
    primaryKey({ columns: [table.issueId, table.userId] }),
    index("issue_assignees_user").on(
      table.userId,
      table.repoId,
      table.isPull,
      table.isClosed,
      table.issueId,
    ),
    index("issue_assignees_newest").on(table.userId, table.isPull, table.isClosed, table.issueId),
  ],
);

/** Users whom the body or a comment mentions. */
export const issueMentions = sqliteTable(
  "issue_mentions",
  { ...ofIssueAndUser(), ...ofListedIssue() },
  (table) => [
    primaryKey({ columns: [table.issueId, table.userId] }),
    index("issue_mentions_user").on(
      table.userId,
      table.repoId,
      table.isPull,
      table.isClosed,
      table.issueId,
    ),
    index("issue_mentions_newest").on(table.userId, table.isPull, table.isClosed, table.issueId),
  ],
);

/** Users who subscribed to an issue, or unsubscribed from it. */
export const issueSubscriptions = sqliteTable(
  "issue_subscriptions",
  {
    ...ofIssueAndUser(),
    isSubscribed: integer({ mode: "boolean" }).notNull(),
    updatedAt: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.issueId, table.userId] }),
    index("issue_subscriptions_user").on(table.userId),
  ],
);

/**
 * Issues that can't be closed before others, possibly of other repositories. The graph has no
 * cycle.
 */
export const issueDependencies = sqliteTable(
  "issue_dependencies",
  {
    /** The blocked issue. */
    issueId: integer()
      .notNull()
      .references(() => issues.id, { onDelete: "cascade" }),
    /** The issue that blocks it. */
    blockerId: integer()
      .notNull()
      .references(() => issues.id, { onDelete: "cascade" }),
    creatorId: integer().references(() => users.id, { onDelete: "set null" }),
    createdAt: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.issueId, table.blockerId] }),
    index("issue_dependencies_blocker").on(table.blockerId, table.issueId),
    index("issue_dependencies_creator").on(table.creatorId),
  ],
);
