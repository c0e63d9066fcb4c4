import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

import { users } from "./accounts.ts";
import { pulls } from "./pulls.ts";
import type { MergeStyle } from "./repositories.ts";

/** The states of a merge queue, which has one batch at most. */
export const MERGE_QUEUE_STATES = [
  /** There is no batch. */
  "idle",
  /** The pull requests of the batch are merged one after the other, on top of the base. */
  "building",
  /** The result has its branch, and waits for its checks. */
  "testing",
  /** The checks succeeded: the base is about to become the result. */
  "landing",
  /** The batch is given up, and its branch is about to be deleted. */
  "ending",
] as const;
export type MergeQueueState = (typeof MERGE_QUEUE_STATES)[number];

/** Why a pull request left a merge queue other than by its merge. */
export const DEQUEUE_REASONS = [
  /** Somebody took it out. */
  "left",
  "checks_failed",
  /** Its checks were not reported in time. */
  "checks_timed_out",
  "conflict",
  /** The base has everything of it. */
  "unchanged",
  /** It is too large to merge here. */
  "too_large",
  /** Commits were pushed to its head. */
  "head_changed",
  "closed",
  /** It was merged otherwise. */
  "merged",
  "draft",
  "retargeted",
  /** A right, a setting or a rule does not allow the merge any more. */
  "refused",
  /** No rule of the base has a merge queue any more. */
  "queue_removed",
  "base_deleted",
  /** The result can't have its branch: another one stands in its way. */
  "branch_refused",
] as const;
export type DequeueReason = (typeof DEQUEUE_REASONS)[number];

/** The merge queues of branches: a row while there is something in the queue. */
export const mergeQueues = sqliteTable(
  "merge_queues",
  {
    /** Never used twice. */
    id: integer().primaryKey({ autoIncrement: true }),
    /** No foreign key: see `repositoryRemains`. */
    repoId: integer().notNull(),
    /** The base of its pull requests, by its short name. */
    branch: text().notNull(),
    state: text().$type<MergeQueueState>().notNull().default("idle"),
    /** Increases with each batch, so that a job that is late changes no later one. */
    batchNumber: integer().notNull().default(0),
    /** The number of pull requests in the batch. */
    batchSize: integer().notNull().default(0),
    /** The value of the base on which the batch is built; "" without one. */
    baseOid: text().notNull().default(""),
    /** The commit that is tested, and that the base becomes; "" while it is built. */
    resultOid: text().notNull().default(""),
    /**
     * When checks that are not reported by then count as failed, in milliseconds; null unless it is
     * testing.
     */
    deadlineAt: integer(),
    /** When the schedule looks at it, in milliseconds. */
    dueAt: integer().notNull(),
    createdAt: integer().notNull(),
  },
  (table) => [
    uniqueIndex("merge_queues_branch").on(table.repoId, table.branch),
    index("merge_queues_result").on(table.repoId, table.resultOid),
    index("merge_queues_due").on(table.dueAt),
  ],
);
export type MergeQueue = typeof mergeQueues.$inferSelect;

/** The pull requests in merge queues, in the order of their ids. */
export const mergeQueueEntries = sqliteTable(
  "merge_queue_entries",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    queueId: integer()
      .notNull()
      .references(() => mergeQueues.id, { onDelete: "cascade" }),
    issueId: integer()
      .notNull()
      .references(() => pulls.issueId, { onDelete: "cascade" }),
    /** The account that queued it, and merges it. */
    doerId: integer()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    style: text().$type<MergeStyle>().notNull(),
    /** The title and message that the user entered; "" for the default. */
    title: text().notNull().default(""),
    message: text().notNull().default(""),
    isBranchDeleted: integer({ mode: "boolean" }).notNull().default(false),
    /** The head that was queued: with another one it leaves the queue. */
    headOid: text().notNull(),
    isInBatch: integer({ mode: "boolean" }).notNull().default(false),
    /**
     * Whether it was in a batch that failed, and no part of that batch has shown since that it is
     * not the cause.
     */
    isSuspect: integer({ mode: "boolean" }).notNull().default(false),
    /**
     * The commit that it was merged into, and the one that this gave; "" before it was merged
     * speculatively.
     */
    builtOnOid: text().notNull().default(""),
    resultOid: text().notNull().default(""),
    /** The merge base of these two sides; "" for unrelated histories. */
    mergeBaseOid: text().notNull().default(""),
    createdAt: integer().notNull(),
  },
  (table) => [
    uniqueIndex("merge_queue_entries_issue").on(table.issueId),
    index("merge_queue_entries_queue").on(table.queueId, table.id),
    index("merge_queue_entries_doer").on(table.doerId),
  ],
);
export type MergeQueueEntry = typeof mergeQueueEntries.$inferSelect;
