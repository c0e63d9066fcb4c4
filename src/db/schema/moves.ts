import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

import type { CopyKey } from "./shards.ts";

/** What a move does. docs/sharding.md has the whole. */
export const MOVE_STATES = [
  /** The rows are entered into the log of the source, from which they are copied. */
  "copying",
  /** What changes meanwhile is copied, and what was copied is compared. */
  "following",
  /** The source refuses writes while the last changes are copied and compared. */
  "frozen",
  /** The first database names the target, which refuses writes until it has what its row of the repository is to have. */
  "moved",
  /** The source's rows are removed after a while, and the source refuses writes for a day. */
  "cleaning",
  /** The copy is removed. */
  "reverting",
  "done",
  "failed",
  "cancelled",
] as const;
export type MoveState = (typeof MOVE_STATES)[number];

/** States in which there is nothing left to do. */
export const ENDED_STATES = ["done", "failed", "cancelled"] as const satisfies MoveState[];

/** Values of columns that a shard owns, by their names in SQL. */
export type OwnedValues = Readonly<Record<string, string | number | null>>;

/** Moves of networks of forks from one database to another. */
export const repositoryMoves = sqliteTable(
  "repository_moves",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    /** The network whose repositories move. */
    networkName: text().notNull(),
    /** The repository that was named, as owner/name at that time. It may be deleted: there is no foreign key. */
    repoId: integer().notNull(),
    repoName: text().notNull(),
    /** The number of the databases. */
    source: integer().notNull(),
    target: integer().notNull(),
    state: text().$type<MoveState>().notNull().default("copying"),
    /** Why it fails or waits; "" otherwise. */
    reason: text().notNull().default(""),
    /** The repositories all of whose rows have been entered into the log, and those whose rows are being entered. */
    entered: text({ mode: "json" }).$type<number[]>().notNull().default([]),
    entering: text({ mode: "json" }).$type<number[]>().notNull().default([]),
    /** The repositories of which the target has copies for the sake of this move, and had none before. */
    givenCopies: text({ mode: "json" }).$type<number[]>().notNull().default([]),
    /** The table of the last row that was entered, by its place among the tables, and its key; null for none. */
    enterTable: integer().notNull().default(0),
    enterKey: text({ mode: "json" }).$type<CopyKey>(),
    /** The entry of the log up to which both databases were compared. */
    comparedId: integer().notNull().default(0),
    /** Rows that differed and were copied again. */
    differenceCount: integer().notNull().default(0),
    /** How often the source was frozen, and steps that failed since the last one that did not. */
    freezeCount: integer().notNull().default(0),
    failureCount: integer().notNull().default(0),
    /** The number of rows of each table when it moved. */
    rowCounts: text({ mode: "json" }).$type<Record<string, number>>().notNull().default({}),
    /** What the row of each repository has in the source when it moves, by id. */
    owned: text({ mode: "json" }).$type<Record<string, OwnedValues>>().notNull().default({}),
    /** When a job goes on, in milliseconds; null for none. */
    dueAt: integer(),
    /** While a job works on it, in milliseconds; 0 for none. */
    leasedUntil: integer().notNull().default(0),
    /** Increases with each lease: databases refuse what a former holder writes late. */
    fence: integer().notNull().default(0),
    createdAt: integer().notNull(),
    movedAt: integer(),
    finishedAt: integer(),
  },
  (table) => [
    uniqueIndex("repository_moves_pending")
      .on(table.networkName)
      .where(sql`${table.finishedAt} is null`),
    index("repository_moves_due")
      .on(table.dueAt)
      .where(sql`${table.dueAt} is not null`),
  ],
);
export type RepositoryMove = typeof repositoryMoves.$inferSelect;

/** In the source and in the target of a move: what it does with writes. */
export const moveSides = sqliteTable("move_sides", {
  /** The move of the first database. */
  moveId: integer().primaryKey(),
  isSource: integer({ mode: "boolean" }).notNull(),
  /** Whether writes of its repositories are refused; otherwise they are entered into the log. */
  isClosed: integer({ mode: "boolean" }).notNull(),
  /** The lease of the job that closed or opened it last. */
  fence: integer().notNull(),
  /** In the target, the last entry of the source's log that it has. */
  copiedId: integer().notNull().default(0),
});

/** In the source and in the target of a move: its repositories. */
export const movingRepositories = sqliteTable("moving_repositories", {
  repoId: integer().primaryKey(),
  moveId: integer().notNull(),
});

/** In the source of a move, the log: which row is to be copied again. Kept by triggers that are there while something moves. */
export const moveChanges = sqliteTable(
  "move_changes",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    moveId: integer().notNull(),
    /** By its name in SQL. */
    tableName: text().notNull(),
    key: text({ mode: "json" }).$type<CopyKey>().notNull(),
  },
  (table) => [
    index("move_changes_move").on(table.moveId, table.id),
    index("move_changes_row").on(table.moveId, table.tableName, table.key, table.id),
  ],
);

/**
 * Has a row within a batch that copies or removes rows of a move, and is empty otherwise: triggers that maintain other rows
 * do nothing then, since these are copied as well.
 */
export const moveBatches = sqliteTable("move_batches", {
  moveId: integer().primaryKey(),
  /** Null, which is refused, where the batch is not to be any more. */
  isCurrent: integer({ mode: "boolean" }).notNull(),
});
