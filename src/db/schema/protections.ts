import { sql } from "drizzle-orm";
import { check, index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

import { users } from "./accounts.ts";
import { type MergeStyle, repositories } from "./repositories.ts";

/**
 * The accounts and teams that a rule allows something, besides those that it allows anyway. Ids of
 * deleted ones are ignored.
 */
export interface Allowed {
  /** Whether only these may do it. */
  isRestricted: boolean;
  userIds: number[];
  teamIds: number[];
  deployKeys: boolean;
}

/** The requirements of a rule on a branch, by the names of the API's fields. */
export interface ProtectionSettings {
  isPushEnabled: boolean;
  push: Allowed;
  isForcePushEnabled: boolean;
  forcePush: Allowed;
  merge: Allowed;
  approval: Allowed;
  requiredApprovals: number;
  isStatusCheckEnabled: boolean;
  /** Patterns of contexts. */
  statusContexts: string[];
  blockOnRejectedReviews: boolean;
  blockOnOfficialReviewRequests: boolean;
  blockOnOutdatedBranch: boolean;
  dismissStaleApprovals: boolean;
  ignoreStaleApprovals: boolean;
  requireSignedCommits: boolean;
  /** Patterns of paths, separated by semicolons. */
  protectedFilePatterns: string;
  unprotectedFilePatterns: string;
  blockAdminMergeOverride: boolean;
  isMergeQueueEnabled: boolean;
  /** The style of all merges of the queue; "" for any. */
  mergeQueueStyle: MergeStyle | "";
  /** Maximum pull requests that are tested together. */
  mergeQueueBatchSize: number;
  /** How long checks may take. */
  mergeQueueWaitMinutes: number;
}

/** Rules for branches: of one repository, or of all repositories of an organization that match. */
export const branchProtections = sqliteTable(
  "branch_protections",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    repoId: integer().references(() => repositories.id, { onDelete: "cascade" }),
    /** The organization of a ruleset. */
    ownerId: integer().references(() => users.id, { onDelete: "cascade" }),
    /** An exact name, or a pattern. */
    name: text().notNull(),
    /** Of a ruleset: patterns of names of repositories, separated by semicolons; "" for all. */
    repositoryPatterns: text().notNull().default(""),
    priority: integer().notNull(),
    /** Whether a client chose the priority; otherwise exact names precede patterns. */
    isPriorityExplicit: integer({ mode: "boolean" }).notNull().default(false),
    settings: text({ mode: "json" }).$type<ProtectionSettings>().notNull(),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
  },
  (table) => [
    uniqueIndex("branch_protections_repo").on(table.repoId, table.name),
    uniqueIndex("branch_protections_owner").on(table.ownerId, table.name),
    check(
      "branch_protections_of_one",
      sql`(${table.repoId} is null) <> (${table.ownerId} is null)`,
    ),
  ],
);
export type BranchProtection = typeof branchProtections.$inferSelect;

/** Rules about who may create, update and delete tags that match. */
export const tagProtections = sqliteTable(
  "tag_protections",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    repoId: integer()
      .notNull()
      .references(() => repositories.id, { onDelete: "cascade" }),
    /** A pattern, or a regular expression between slashes. */
    namePattern: text().notNull(),
    userIds: text({ mode: "json" }).$type<number[]>().notNull().default([]),
    teamIds: text({ mode: "json" }).$type<number[]>().notNull().default([]),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
  },
  (table) => [
    uniqueIndex("tag_protections_pattern").on(table.repoId, table.namePattern),
    index("tag_protections_repo").on(table.repoId, table.id),
  ],
);
export type TagProtection = typeof tagProtections.$inferSelect;
