import {
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";

import { users } from "./accounts.ts";
import { repositories } from "./repositories.ts";

/** Large files that a repository has. Their bytes are in the bucket, and were checked before. */
export const lfsObjects = sqliteTable(
  "lfs_objects",
  {
    repoId: integer()
      .notNull()
      .references(() => repositories.id, { onDelete: "cascade" }),
    /** SHA-256 of the bytes, in lower-case hex. */
    oid: text().notNull(),
    sizeBytes: integer().notNull(),
    /** The upload that brought the bytes, and with the oid the name of their file. Forks share it. */
    uploadId: text().notNull(),
    createdAt: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.repoId, table.oid] }),
    index("lfs_objects_upload").on(table.uploadId),
  ],
);
export type LfsObject = typeof lfsObjects.$inferSelect;

/**
 * Files of the bucket that no repository has: those that are on their way, and those of repositories
 * that were deleted, which a trigger notes.
 */
export const lfsLooseFiles = sqliteTable(
  "lfs_loose_files",
  {
    uploadId: text().primaryKey(),
    oid: text().notNull(),
    networkName: text().notNull(),
    /** From when on no repository may have it any more, and it is to be removed; in milliseconds. */
    expiresAt: integer().notNull(),
  },
  (table) => [
    index("lfs_loose_files_expiry").on(table.expiresAt),
    index("lfs_loose_files_network").on(table.networkName, table.expiresAt),
  ],
);

/** Paths of a repository that somebody works on alone. */
export const lfsLocks = sqliteTable(
  "lfs_locks",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    repoId: integer()
      .notNull()
      .references(() => repositories.id, { onDelete: "cascade" }),
    path: text().notNull(),
    ownerId: integer()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    lockedAt: integer().notNull(),
  },
  (table) => [
    uniqueIndex("lfs_locks_path").on(table.repoId, table.path),
    index("lfs_locks_repo").on(table.repoId, table.id),
    index("lfs_locks_owner").on(table.ownerId),
  ],
);
export type LfsLock = typeof lfsLocks.$inferSelect;
