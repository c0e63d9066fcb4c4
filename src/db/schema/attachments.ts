import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

import { users } from "./accounts.ts";
import { issues } from "./issues.ts";
import { releases } from "./releases.ts";
import { timelineEntries } from "./timeline.ts";

/** Files of issues, comments and releases. The object storage holds their bytes under the uuid. */
export const attachments = sqliteTable(
  "attachments",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    uuid: text().notNull(),
    /** No foreign key, see `repositoryRemains`. */
    repoId: integer().notNull(),
    issueId: integer().references(() => issues.id, { onDelete: "cascade" }),
    /** The comment; null for a file of the issue itself. */
    entryId: integer().references(() => timelineEntries.id, { onDelete: "cascade" }),
    releaseId: integer().references(() => releases.id, { onDelete: "cascade" }),
    /** Null if the account was deleted. */
    uploaderId: integer().references(() => users.id, { onDelete: "set null" }),
    name: text().notNull(),
    sizeBytes: integer().notNull(),
    /** The SHA-256 of its bytes, in hex; "" for a file that was stored before digests were. */
    sha256: text().notNull().default(""),
    downloadCount: integer().notNull().default(0),
    createdAt: integer().notNull(),
  },
  (table) => [
    uniqueIndex("attachments_uuid").on(table.uuid),
    index("attachments_repo").on(table.repoId),
    index("attachments_issue").on(table.issueId, table.id),
    index("attachments_entry")
      .on(table.entryId, table.id)
      .where(sql`${table.entryId} is not null`),
    index("attachments_release")
      .on(table.releaseId, table.id)
      .where(sql`${table.releaseId} is not null`),
    index("attachments_uploader").on(table.uploaderId),
  ],
);
export type Attachment = typeof attachments.$inferSelect;

/**
 * Files in the object storage without an attachment: of uploads that did not end, and of deleted
 * attachments.
 */
export const attachmentLooseFiles = sqliteTable(
  "attachment_loose_files",
  {
    uuid: text().primaryKey(),
    /**
     * From this time on no attachment may refer to the file, and it is due for removal; in
     * milliseconds.
     */
    expiresAt: integer().notNull(),
  },
  (table) => [index("attachment_loose_files_expiry").on(table.expiresAt)],
);
