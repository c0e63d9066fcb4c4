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

/**
 * LFS objects of a repository. Their bytes are in the bucket and were verified before the row was
 * written.
 */
export const lfsObjects = sqliteTable(
  "lfs_objects",
  {
    repoId: integer()
      .notNull()
      .references(() => repositories.id, { onDelete: "cascade" }),
    /** SHA-256 of the bytes, in lower-case hex. */
    oid: text().notNull(),
    sizeBytes: integer().notNull(),
    /**
     * The upload that stored the bytes; with the oid it names the file in the bucket. Forks share
     * the file.
     */
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
 * Files of the bucket that no repository refers to: pending uploads, and files of deleted
 * repositories, which a trigger inserts.
 */
export const lfsLooseFiles = sqliteTable(
  "lfs_loose_files",
  {
    uploadId: text().primaryKey(),
    oid: text().notNull(),
    networkName: text().notNull(),
    /**
     * From this time on no repository may refer to the file, and it is due for removal; in
     * milliseconds.
     */
    expiresAt: integer().notNull(),
  },
  (table) => [
    index("lfs_loose_files_expiry").on(table.expiresAt),
    index("lfs_loose_files_network").on(table.networkName, table.expiresAt),
  ],
);

/** LFS locks: paths of a repository that one user has locked. */
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
