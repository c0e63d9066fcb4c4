import { sql } from "drizzle-orm";
import { check, index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

import { users } from "./accounts.ts";
import { issues } from "./issues.ts";
import { teams } from "./organizations.ts";

export type ReviewState =
  /** Visible to its author only. */
  "pending" | "approved" | "request_changes" | "comment" | "request_review";

/** Reviews of pull requests, and requests for reviews. */
export const reviews = sqliteTable(
  "reviews",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    /** Copied from its pull request. */
    repoId: integer().notNull(),
    issueId: integer()
      .notNull()
      .references(() => issues.id, { onDelete: "cascade" }),
    state: text().$type<ReviewState>().notNull(),
    /** Its author, or who is asked; null for a team, and if the account was deleted. */
    reviewerId: integer().references(() => users.id, { onDelete: "set null" }),
    /** The team that is asked; null for a user. */
    teamId: integer().references(() => teams.id, { onDelete: "cascade" }),
    /** The name and id of its author on the server that it was migrated from. */
    originalAuthor: text().notNull().default(""),
    originalAuthorId: integer().notNull().default(0),
    /** Whether it counts for the rule that protects the base. */
    isOfficial: integer({ mode: "boolean" }).notNull().default(false),
    /** Whether it is asked for since the reviewer owns code that is changed, by `CODEOWNERS`. */
    isOfOwner: integer({ mode: "boolean" }).notNull().default(false),
    /** Whether the head has changed since. */
    isStale: integer({ mode: "boolean" }).notNull().default(false),
    isDismissed: integer({ mode: "boolean" }).notNull().default(false),
    body: text().notNull().default(""),
    /** The head that was reviewed; "" for a request. */
    commitOid: text().notNull().default(""),
    /** The number of its comments on code. Maintained by triggers. */
    commentCount: integer().notNull().default(0),
    /** When it was submitted; until then when it was begun. */
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
  },
  (table) => [
    index("reviews_issue").on(table.issueId, table.id),
    // At most one of a user or team at a time.
    uniqueIndex("reviews_pending")
      .on(table.issueId, table.reviewerId)
      .where(sql`${table.state} = 'pending'`),
    uniqueIndex("reviews_user_request")
      .on(table.issueId, table.reviewerId)
      .where(sql`${table.state} = 'request_review' and ${table.reviewerId} is not null`),
    uniqueIndex("reviews_team_request")
      .on(table.issueId, table.teamId)
      .where(sql`${table.teamId} is not null`),
    index("reviews_reviewer").on(table.reviewerId, table.state, table.issueId),
    index("reviews_team")
      .on(table.teamId)
      .where(sql`${table.teamId} is not null`),
    check("reviews_of_team", sql`${table.teamId} is null or ${table.state} = 'request_review'`),
  ],
);
export type Review = typeof reviews.$inferSelect;
