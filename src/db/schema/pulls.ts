import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

import { users } from "./accounts.ts";
import { issues } from "./issues.ts";
import type { MergeStyle } from "./repositories.ts";

/**
 * Whether the head of a pull request can be merged into its base, as it was checked for two
 * commits.
 */
export type Mergeability =
  /** Not checked yet. */
  | "checking"
  | "mergeable"
  | "conflict"
  /** Could not be checked. */
  | "error"
  /** The head changes no file. */
  | "empty"
  /** The base reaches the head already. */
  | "ancestor";

/** How the head of a pull request comes to the service. */
export type PullFlow =
  /** It follows a branch of the repository, or of one of its fork network. */
  | "branch"
  /** It is pushed to `refs/for/<base>`; its head's branch is a topic, which is no ref. */
  | "agit";

/** How a pull request was merged: by a style, or outside of the service. */
export type MergeKind = MergeStyle | "manually-merged";

/** The columns of pull requests besides those of issues: one row for each issue with `isPull`. */
export const pulls = sqliteTable(
  "pulls",
  {
    issueId: integer()
      .primaryKey()
      .references(() => issues.id, { onDelete: "cascade" }),
    /** The repository of the base, copied from the issue. */
    repoId: integer().notNull(),
    /** Copied from the issue. Maintained by a trigger. */
    isClosed: integer({ mode: "boolean" }).notNull().default(false),
    flow: text().$type<PullFlow>().notNull().default("branch"),
    /**
     * The repository of the head, of the same fork network. May be deleted: there is no foreign
     * key.
     */
    headRepoId: integer().notNull(),
    /** Branches by their short names; the head of an agit pull request is `<user>/<topic>`. */
    headBranch: text().notNull(),
    baseBranch: text().notNull(),
    /** The value of `refs/pull/N/head` in the repository of the base. */
    headOid: text().notNull(),
    /**
     * The latest merge base of head and base; "" for unrelated histories. Fixed once it is merged.
     */
    mergeBaseOid: text().notNull().default(""),
    allowMaintainerEdit: integer({ mode: "boolean" }).notNull().default(false),
    /** The result of checking whether `checkedHeadOid` merges into `checkedBaseOid`. */
    mergeState: text().$type<Mergeability>().notNull().default("checking"),
    checkedBaseOid: text().notNull().default(""),
    checkedHeadOid: text().notNull().default(""),
    /** The paths with conflicts, at most 100. */
    conflictPaths: text({ mode: "json" }).$type<string[]>().notNull().default([]),
    /**
     * The changes between merge base and head, and the commits on either side alone, as of
     * that check.
     */
    additions: integer().notNull().default(0),
    deletions: integer().notNull().default(0),
    changedFiles: integer().notNull().default(0),
    aheadCount: integer().notNull().default(0),
    behindCount: integer().notNull().default(0),
    /** Null if it is not merged. */
    mergedAt: integer(),
    /** Null also if the account was deleted. */
    mergerId: integer().references(() => users.id, { onDelete: "set null" }),
    /** The commit that it became in the base; "" if it is not merged. */
    mergeCommitOid: text().notNull().default(""),
    /** The value of the base before it was merged; "" if it is not merged. */
    mergedBaseOid: text().notNull().default(""),
    mergeKind: text().$type<MergeKind>(),
  },
  (table) => [
    index("pulls_base").on(table.repoId, table.baseBranch, table.isClosed, table.issueId),
    index("pulls_head").on(table.headRepoId, table.headBranch, table.isClosed, table.issueId),
    index("pulls_merge_commit")
      .on(table.repoId, table.mergeCommitOid)
      .where(sql`${table.mergeCommitOid} <> ''`),
    index("pulls_merger")
      .on(table.mergerId)
      .where(sql`${table.mergerId} is not null`),
  ],
);
export type Pull = typeof pulls.$inferSelect;

/**
 * The values of the branches that pull requests have as base or head, copied from their
 * repositories, so that lists of pull requests need no repository. Written in the batch that
 * records a push.
 */
export const branchTips = sqliteTable(
  "branch_tips",
  {
    /** No foreign key: see `repositoryRemains`. */
    repoId: integer().notNull(),
    /** The short name. */
    branch: text().notNull(),
    /** Null for a deleted branch. */
    oid: text(),
    /**
     * The reflog id of the update that gave it this value, which increases; 0 if it was read
     * otherwise.
     */
    logId: integer().notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.repoId, table.branch] })],
);
export type BranchTip = typeof branchTips.$inferSelect;

/** Pull requests to merge once everything that their base's rule requires is there. */
export const scheduledMerges = sqliteTable(
  "scheduled_merges",
  {
    issueId: integer()
      .primaryKey()
      .references(() => pulls.issueId, { onDelete: "cascade" }),
    repoId: integer().notNull(),
    /** The account that scheduled it, and merges it. */
    doerId: integer()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    style: text().$type<MergeStyle>().notNull(),
    /** The title and message that the user entered; "" for the default. */
    title: text().notNull().default(""),
    message: text().notNull().default(""),
    isBranchDeleted: integer({ mode: "boolean" }).notNull().default(false),
    createdAt: integer().notNull(),
  },
  (table) => [
    index("scheduled_merges_repo").on(table.repoId, table.issueId),
    index("scheduled_merges_doer").on(table.doerId),
  ],
);
export type ScheduledMerge = typeof scheduledMerges.$inferSelect;
