import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

/**
 * Uploaded avatars: one row for each file in the bucket. An image is identified by its hash, so
 * accounts and repositories that upload the same image share a file.
 */
export const avatarImages = sqliteTable(
  "avatar_images",
  {
    /** The upload that stored the bytes; with the hash it names the file in the bucket. */
    uploadId: text().primaryKey(),
    /** SHA-256 of the bytes, in lower-case hex. */
    hash: text().notNull(),
    contentType: text().notNull(),
    /**
     * From this time on nothing may refer to the file, and it is due for removal; in milliseconds.
     * Null while an account or a repository refers to it. Triggers set it with the last reference's
     * removal.
     */
    expiresAt: integer(),
  },
  (table) => [
    uniqueIndex("avatar_images_hash")
      .on(table.hash)
      .where(sql`${table.expiresAt} is null`),
    index("avatar_images_expiry")
      .on(table.expiresAt)
      .where(sql`${table.expiresAt} is not null`),
  ],
);
export type AvatarImage = typeof avatarImages.$inferSelect;
