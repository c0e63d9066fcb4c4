import { sql } from "drizzle-orm";
import {
  type AnySQLiteColumn,
  index,
  integer,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";

import { users } from "./accounts.ts";
import { issues } from "./issues.ts";
import { labels } from "./labels.ts";
import { milestones } from "./milestones.ts";
import { teams } from "./organizations.ts";
import { repositories } from "./repositories.ts";
import { reviews } from "./reviews.ts";

/** The kinds of entries of a timeline, in the API's words. */
export const TIMELINE_KINDS = [
  "comment",
  "reopen",
  "close",
  "issue_ref",
  "commit_ref",
  "comment_ref",
  "pull_ref",
  "label",
  "milestone",
  "assignees",
  "change_title",
  "start_tracking",
  "stop_tracking",
  "add_time_manual",
  "cancel_tracking",
  "delete_time_manual",
  "added_deadline",
  "modified_deadline",
  "removed_deadline",
  "add_dependency",
  "remove_dependency",
  "lock",
  "unlock",
  "change_issue_ref",
  "pin",
  "unpin",
  "change_time_estimate",
  "code",
  "review",
  "review_request",
  "dismiss_review",
  "change_target_branch",
  "delete_branch",
  "pull_push",
  "merge_pull",
  "pull_scheduled_merge",
  "pull_cancel_scheduled_merge",
  "pull_enqueued",
  "pull_dequeued",
] as const;
export type TimelineKind = (typeof TIMELINE_KINDS)[number];

/** The timelines of issues and pull requests: comments, and what else happened to them. */
export const timelineEntries = sqliteTable(
  "timeline_entries",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    /** Copied from its issue, which goes with the repository. */
    repoId: integer().notNull(),
    issueId: integer()
      .notNull()
      .references(() => issues.id, { onDelete: "cascade" }),
    kind: text().$type<TimelineKind>().notNull(),
    /** The author; null if the account was deleted. */
    posterId: integer().references(() => users.id, { onDelete: "set null" }),
    /** The name and id of its author on the server that it was migrated from. */
    originalAuthor: text().notNull().default(""),
    originalAuthorId: integer().notNull().default(0),
    /** The text of a comment; for other kinds what the API shows as body. */
    body: text().notNull().default(""),
    /** Increases with each edit of the body. */
    contentVersion: integer().notNull().default(0),
    /** The label that was added, or removed if the body is empty. */
    labelId: integer().references(() => labels.id, { onDelete: "cascade" }),
    milestoneId: integer().references(() => milestones.id, { onDelete: "set null" }),
    oldMilestoneId: integer().references(() => milestones.id, { onDelete: "set null" }),
    assigneeId: integer().references(() => users.id, { onDelete: "set null" }),
    isAssigneeRemoved: integer({ mode: "boolean" }).notNull().default(false),
    /**
     * The review that it is part of, or that it reports. Entries of a pending review are its
     * author's alone.
     */
    reviewId: integer().references((): AnySQLiteColumn => reviews.id, { onDelete: "cascade" }),
    /** The team that a review is asked of, or no more if `isAssigneeRemoved`. */
    teamId: integer().references(() => teams.id, { onDelete: "set null" }),
    /** The former and the new title, ref, or base. */
    oldValue: text().notNull().default(""),
    newValue: text().notNull().default(""),
    /**
     * The issue that the entry refers to: the other one of a dependency, or the one with a
     * reference to this one.
     */
    otherIssueId: integer().references(() => issues.id, { onDelete: "cascade" }),
    /** The comment with a reference to this issue. */
    otherEntryId: integer().references((): AnySQLiteColumn => timelineEntries.id, {
      onDelete: "cascade",
    }),
    /** The effect of a reference on this issue once it takes effect. */
    refAction: text().$type<RefAction>().notNull().default("none"),
    /**
     * The commit with a reference to this issue; also where it closed or reopened the issue, or
     * booked time on it.
     */
    commitOid: text().notNull().default(""),
    /** The repository to which a commit with a reference was pushed. */
    commitRepoId: integer(),
    /** The booked time that the entry reports. */
    timeId: integer(),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
  },
  (table) => [
    // Also the comments of an issue, of which most of its entries are.
    index("timeline_entries_issue").on(table.issueId),
    index("timeline_entries_comments")
      .on(table.repoId)
      .where(sql`${table.kind} = 'comment'`),
    index("timeline_entries_updated")
      .on(table.repoId, table.updatedAt)
      .where(sql`${table.kind} = 'comment'`),
    // The people who commented on an issue.
    index("timeline_entries_commenters")
      .on(table.issueId, table.posterId)
      .where(sql`${table.kind} = 'comment'`),
    index("timeline_entries_poster").on(table.posterId, table.issueId),
    index("timeline_entries_label")
      .on(table.labelId, table.repoId)
      .where(sql`${table.labelId} is not null`),
    index("timeline_entries_milestone")
      .on(table.milestoneId)
      .where(sql`${table.milestoneId} is not null`),
    index("timeline_entries_old_milestone")
      .on(table.oldMilestoneId)
      .where(sql`${table.oldMilestoneId} is not null`),
    index("timeline_entries_assignee")
      .on(table.assigneeId)
      .where(sql`${table.assigneeId} is not null`),
    index("timeline_entries_review")
      .on(table.reviewId)
      .where(sql`${table.reviewId} is not null`),
    index("timeline_entries_team")
      .on(table.teamId)
      .where(sql`${table.teamId} is not null`),
    index("timeline_entries_other_issue")
      .on(table.otherIssueId)
      .where(sql`${table.otherIssueId} is not null`),
    index("timeline_entries_other_entry")
      .on(table.otherEntryId)
      .where(sql`${table.otherEntryId} is not null`),
    // A commit acts on an issue once, however often its push is processed.
    uniqueIndex("timeline_entries_commit")
      .on(table.issueId, table.commitOid, table.kind)
      .where(sql`${table.commitOid} <> ''`),
  ],
);
export type TimelineEntry = typeof timelineEntries.$inferSelect;
export type RefAction = "none" | "closes" | "reopens" | "neutered";

/** The numbers of comments in a repository, for the total of their list. Maintained by triggers. */
export const commentCounts = sqliteTable("comment_counts", {
  repoId: integer()
    .primaryKey()
    .references(() => repositories.id, { onDelete: "cascade" }),
  ofIssues: integer().notNull().default(0),
  ofPulls: integer().notNull().default(0),
});

/** Former texts of an issue's body or of a comment; the first one is the original. */
export const contentVersions = sqliteTable(
  "content_versions",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    issueId: integer()
      .notNull()
      .references(() => issues.id, { onDelete: "cascade" }),
    /** The comment; null for the issue's own body. */
    entryId: integer().references(() => timelineEntries.id, { onDelete: "cascade" }),
    /** The author of this version; null if the account was deleted. */
    editorId: integer().references(() => users.id, { onDelete: "set null" }),
    body: text().notNull(),
    createdAt: integer().notNull(),
  },
  (table) => [
    index("content_versions_issue").on(table.issueId, table.entryId, table.id),
    index("content_versions_entry")
      .on(table.entryId)
      .where(sql`${table.entryId} is not null`),
    index("content_versions_editor").on(table.editorId),
  ],
);
export type ContentVersion = typeof contentVersions.$inferSelect;

export const reactions = sqliteTable(
  "reactions",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    issueId: integer()
      .notNull()
      .references(() => issues.id, { onDelete: "cascade" }),
    /** The comment; null for a reaction to the issue itself. */
    entryId: integer().references(() => timelineEntries.id, { onDelete: "cascade" }),
    userId: integer()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    content: text().notNull(),
    createdAt: integer().notNull(),
  },
  (table) => [
    uniqueIndex("reactions_issue")
      .on(table.issueId, table.userId, table.content)
      .where(sql`${table.entryId} is null`),
    uniqueIndex("reactions_entry")
      .on(table.entryId, table.userId, table.content)
      .where(sql`${table.entryId} is not null`),
    index("reactions_of_issue").on(table.issueId, table.id),
    index("reactions_user").on(table.userId),
  ],
);
export type Reaction = typeof reactions.$inferSelect;
