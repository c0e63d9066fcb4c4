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

/** The states of a commit status, from worst to best. */
export const COMMIT_STATES = [
  "error",
  "failure",
  "pending",
  "warning",
  "skipped",
  "success",
] as const;
export type CommitState = (typeof COMMIT_STATES)[number];

/**
 * Statuses that checks reported for commits, one row for each report: the latest of a context is in
 * effect.
 */
export const commitStatuses = sqliteTable(
  "commit_statuses",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    repoId: integer()
      .notNull()
      .references(() => repositories.id, { onDelete: "cascade" }),
    commitOid: text().notNull(),
    /** The position among the commit's statuses, from 1 in the order of creation. */
    number: integer().notNull(),
    state: text().$type<CommitState>().notNull(),
    /** The name of the check. */
    context: text().notNull(),
    description: text().notNull(),
    targetUrl: text().notNull(),
    /** Null where the account was deleted. */
    creatorId: integer().references(() => users.id, { onDelete: "set null" }),
    createdAt: integer().notNull(),
  },
  (table) => [
    // Lists are in this order or its reverse.
    uniqueIndex("commit_statuses_number").on(table.repoId, table.commitOid, table.number),
    index("commit_statuses_creator").on(table.creatorId),
  ],
);
export type CommitStatus = typeof commitStatuses.$inferSelect;

/** Topics that repositories are tagged with. */
export const topics = sqliteTable(
  "topics",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    name: text().notNull(),
    /** The number of public repositories with the topic. Maintained by triggers. */
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
    /**
     * The repository's visibility, copied so that a search reads only visible rows. Maintained by
     * triggers.
     */
    visibility: text().$type<Visibility>().notNull().default("private"),
  },
  (table) => [
    primaryKey({ columns: [table.repoId, table.topicId] }),
    index("repository_topics_topic").on(table.topicId, table.visibility, table.repoId),
  ],
);

/** The results of analysing a repository's code at one commit: a cache that can be recomputed. */
export const repositoryInsights = sqliteTable("repository_insights", {
  repoId: integer()
    .primaryKey()
    .references(() => repositories.id, { onDelete: "cascade" }),
  commitOid: text().notNull(),
  /** The version of the rules that produced the results. */
  rules: text().notNull(),
  /** Bytes of each language, largest first. */
  languages: text({ mode: "json" }).$type<[language: string, bytes: number][]>().notNull(),
  /** SPDX ids. */
  licenses: text({ mode: "json" }).$type<string[]>().notNull(),
});
export type RepositoryInsightsRow = typeof repositoryInsights.$inferSelect;
