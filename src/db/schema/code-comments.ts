import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

import { users } from "./accounts.ts";
import { issues } from "./issues.ts";
import { reviews } from "./reviews.ts";
import { timelineEntries } from "./timeline.ts";

/**
 * Where in the changes of a pull request a comment is: what entries of kind `code` have besides the
 * others.
 */
export const codeComments = sqliteTable(
  "code_comments",
  {
    entryId: integer()
      .primaryKey()
      .references(() => timelineEntries.id, { onDelete: "cascade" }),
    reviewId: integer()
      .notNull()
      .references(() => reviews.id, { onDelete: "cascade" }),
    issueId: integer()
      .notNull()
      .references(() => issues.id, { onDelete: "cascade" }),
    /** The first comment of the conversation; null for the first itself. */
    rootId: integer().references(() => timelineEntries.id, {
      onDelete: "cascade",
    }),
    /** UTF-8 where the path is; other bytes are replaced. */
    path: text().notNull(),
    /**
     * The line, from 1: of the head, or of the merge base if `isOldSide`. 0 for the file as a
     * whole.
     */
    line: integer().notNull(),
    /** The first of several lines; equal to `line` for one. */
    startLine: integer().notNull(),
    isOldSide: integer({ mode: "boolean" }).notNull().default(false),
    /** The commit in which the line has this number now, and the one that it was written about. */
    commitOid: text().notNull(),
    originalCommitOid: text().notNull(),
    originalLine: integer().notNull(),
    /** The part of the diff that ends with the line, when it was written. */
    diffHunk: text().notNull().default(""),
    /** Whether a later head changed or removed the line. */
    isOutdated: integer({ mode: "boolean" }).notNull().default(false),
    /**
     * The account that resolved the conversation, on its first comment; null if it is not resolved.
     */
    resolverId: integer().references(() => users.id, { onDelete: "set null" }),
    resolvedAt: integer(),
  },
  (table) => [
    index("code_comments_review").on(table.reviewId, table.entryId),
    index("code_comments_issue").on(table.issueId, table.path, table.entryId),
    index("code_comments_root")
      .on(table.rootId)
      .where(sql`${table.rootId} is not null`),
    index("code_comments_resolver")
      .on(table.resolverId)
      .where(sql`${table.resolverId} is not null`),
  ],
);
export type CodeComment = typeof codeComments.$inferSelect;
