import { desc, sql } from "drizzle-orm";
import {
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";

import { users, type Visibility } from "./accounts.ts";
import { repositories } from "./repositories.ts";

/** What a check says of a commit, from the worst to the best. */
export const COMMIT_STATES = [
  "error",
  "failure",
  "pending",
  "warning",
  "skipped",
  "success",
] as const;
export type CommitState = (typeof COMMIT_STATES)[number];

/** What checks said of commits, each word of theirs a row: the latest of a context counts. */
export const commitStatuses = sqliteTable(
  "commit_statuses",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    repoId: integer()
      .notNull()
      .references(() => repositories.id, { onDelete: "cascade" }),
    commitOid: text().notNull(),
    /** Of all that were said of the commit, from 1 in their order. */
    number: integer().notNull(),
    state: text().$type<CommitState>().notNull(),
    /** Which check, as it calls itself. */
    context: text().notNull(),
    description: text().notNull(),
    targetUrl: text().notNull(),
    /** Null where the account is gone. */
    creatorId: integer().references(() => users.id, { onDelete: "set null" }),
    createdAt: integer().notNull(),
  },
  (table) => [
    // Every order of a list is this one or its reverse.
    uniqueIndex("commit_statuses_number").on(table.repoId, table.commitOid, table.number),
    index("commit_statuses_creator").on(table.creatorId),
  ],
);
export type CommitStatus = typeof commitStatuses.$inferSelect;

/** Words that repositories are found by. */
export const topics = sqliteTable(
  "topics",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    name: text().notNull(),
    /** Public repositories that have it. Kept by triggers. */
    repoCount: integer().notNull().default(0),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
  },
  (table) => [
    uniqueIndex("topics_name").on(table.name),
    index("topics_popular")
      .on(desc(table.repoCount), table.name)
      .where(sql`${table.repoCount} > 0`),
  ],
);
export type Topic = typeof topics.$inferSelect;

export const repositoryTopics = sqliteTable(
  "repository_topics",
  {
    repoId: integer()
      .notNull()
      .references(() => repositories.id, { onDelete: "cascade" }),
    topicId: integer()
      .notNull()
      .references(() => topics.id, { onDelete: "cascade" }),
    /** The repository's, repeated so that a search reads only what is shown. Kept by triggers. */
    visibility: text().$type<Visibility>().notNull().default("private"),
  },
  (table) => [
    primaryKey({ columns: [table.repoId, table.topicId] }),
    index("repository_topics_topic").on(table.topicId, table.visibility, table.repoId),
  ],
);

/** What was found out about the code of a repository at one commit: it can be found out again. */
export const repositoryInsights = sqliteTable("repository_insights", {
  repoId: integer()
    .primaryKey()
    .references(() => repositories.id, { onDelete: "cascade" }),
  commitOid: text().notNull(),
  /** Which rules it was found out by. */
  rules: text().notNull(),
  /** Bytes of each language, the most first. */
  languages: text({ mode: "json" }).$type<[language: string, bytes: number][]>().notNull(),
  /** SPDX ids. */
  licenses: text({ mode: "json" }).$type<string[]>().notNull(),
});
export type RepositoryInsightsRow = typeof repositoryInsights.$inferSelect;
