import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

import { repositories } from "./repositories.ts";
import { users } from "./accounts.ts";

/** Databases besides the first, by the number in the names of their bindings. docs/sharding.md has the whole. */
export const shards = sqliteTable("shards", {
  id: integer().primaryKey(),
  /**
   * Copied tables are entered into the log for a new shard row by row: the table of the last one, by its place among the tables, and
   * its key; null for none. `seededAt` is when all were.
   */
  seedTable: integer().notNull().default(0),
  seedKey: text({ mode: "json" }).$type<CopyKey>(),
  seededAt: integer(),
  /** What the shard had copied at the end of the last run, for the removal of older entries of the log. */
  copiedChangeId: integer().notNull().default(0),
  /** Until when no request waits for its copies, since it did not answer one. */
  avoidedUntil: integer().notNull().default(0),
  /**
   * Copies are compared page by page: the table of the last page, by its place among the tables, and the end of that page; null for
   * none. `comparedAt` is when all were.
   */
  compareTable: integer().notNull().default(0),
  compareKey: text({ mode: "json" }).$type<CopyKey>(),
  comparedAt: integer(),
  /** Whether new repositories may come here. */
  isOpen: integer({ mode: "boolean" }).notNull().default(true),
  /** The size of its database at `measuredAt`. */
  sizeBytes: integer().notNull().default(0),
  measuredAt: integer(),
  /** Repositories whose own data is here. Maintained by triggers. */
  repositoryCount: integer().notNull().default(0),
  createdAt: integer().notNull(),
});
export type Shard = typeof shards.$inferSelect;

/**
 * The ranges of ids that shards give: ids of range n follow n times 2³⁶. The first database gives those of range 0, which has no row, and
 * lists the ranges of all shards; a shard has its own. New ids of a shard are of the last of its ranges.
 */
export const idRanges = sqliteTable(
  "id_ranges",
  {
    number: integer().primaryKey(),
    shardId: integer().notNull(),
  },
  (table) => [index("id_ranges_shard").on(table.shardId, table.number)],
);

/** The repositories of which a shard has a copy, with all copied rows about them. */
export const shardRepositories = sqliteTable(
  "shard_repositories",
  {
    shardId: integer()
      .notNull()
      .references(() => shards.id, { onDelete: "cascade" }),
    repoId: integer()
      .notNull()
      .references(() => repositories.id, { onDelete: "cascade" }),
  },
  (table) => [
    primaryKey({ columns: [table.shardId, table.repoId] }),
    index("shard_repositories_repo").on(table.repoId),
  ],
);

/**
 * Repositories that an edit is making private, by an id of the edit: shards get them as private ones already. An edit removes its row in
 * the batch that makes the repository private, or when it has failed; one that ended anywhere leaves it until `until`.
 */
export const hiddenRepositories = sqliteTable(
  "hidden_repositories",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    repoId: integer()
      .notNull()
      .references(() => repositories.id, { onDelete: "cascade" }),
    until: integer().notNull(),
  },
  (table) => [
    index("hidden_repositories_repo").on(table.repoId),
    index("hidden_repositories_until").on(table.until),
  ],
);

/** The values of a row's primary key, in the order of its columns. */
export type CopyKey = readonly (number | string)[];

/**
 * The log of changes of copied tables: which row is to be copied again. Maintained by triggers, while there are shards.
 */
export const copiedChanges = sqliteTable(
  "copied_changes",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    /** By its name in SQL. */
    tableName: text().notNull(),
    key: text({ mode: "json" }).$type<CopyKey>().notNull(),
    /** The only shard that it is for; 0 for all. */
    shardId: integer().notNull().default(0),
  },
  (table) => [
    index("copied_changes_shard").on(table.shardId, table.id),
    index("copied_changes_row").on(table.tableName, table.key, table.id),
  ],
);

/** In a shard, one row: which shard it is, and the last change of the first database that it has. */
export const shardCopies = sqliteTable("shard_copies", {
  shardId: integer().primaryKey(),
  changeId: integer().notNull(),
  /** Whether copied tables may be written: set by a batch that copies, which clears it at its end. */
  isCopying: integer({ mode: "boolean" }).notNull().default(false),
  /** The last of `hiddenRepositories` that hid something here: rows that were read before it was there are refused. */
  hiddenId: integer().notNull().default(0),
});

/** In a shard, repositories of which a column that the shard owns differs from the first database's copy. Kept by a trigger. */
export const ownedChanges = sqliteTable("owned_changes", {
  repoId: integer()
    .primaryKey()
    .references(() => repositories.id, { onDelete: "cascade" }),
});

/**
 * The shards that may have issues, reviews, times and events of an account, or that name it: lists over all repositories ask no others.
 * Rows only come, from what the shards note.
 */
export const accountShards = sqliteTable(
  "account_shards",
  {
    accountId: integer()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    shardId: integer()
      .notNull()
      .references(() => shards.id, { onDelete: "cascade" }),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.shardId] }),
    index("account_shards_shard").on(table.shardId),
  ],
);

/**
 * In a shard, the accounts of which it has something, and whether the first database has been told. Kept by triggers. Accounts may
 * be gone meanwhile.
 */
export const notedAccounts = sqliteTable(
  "noted_accounts",
  {
    accountId: integer().primaryKey(),
    isCopied: integer({ mode: "boolean" }).notNull().default(false),
  },
  (table) => [
    index("noted_accounts_uncopied")
      .on(table.accountId)
      .where(sql`not ${table.isCopied}`),
  ],
);

/**
 * What is still to be done in shards after changes of the first database. A row is written in the batch of its change, and removed
 * when the shard has done it.
 */
export const shardTasks = sqliteTable(
  "shard_tasks",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    shardId: integer()
      .notNull()
      .references(() => shards.id, { onDelete: "cascade" }),
    /** What is done, and for whom: `ShardTask` in src/domain/shards. Steps store here what they leave. */
    task: text({ mode: "json" }).$type<object>().notNull(),
    /** When it is done, or repeated, in milliseconds: the end of the lease while a worker does it. */
    dueAt: integer().notNull(),
    attempts: integer().notNull().default(0),
    createdAt: integer().notNull(),
  },
  (table) => [index("shard_tasks_due").on(table.shardId, table.dueAt, table.id)],
);
