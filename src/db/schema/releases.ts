import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

import { users } from "./accounts.ts";

/** Releases of repositories, each of a tag that may not exist yet while it is a draft. */
export const releases = sqliteTable(
  "releases",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    /** No foreign key: see `repositoryRemains`. */
    repoId: integer().notNull(),
    tagName: text().notNull(),
    lowerTagName: text().notNull(),
    /** The branch or commit from which the tag is created. */
    target: text().notNull(),
    title: text().notNull().default(""),
    body: text().notNull().default(""),
    isDraft: integer({ mode: "boolean" }).notNull().default(false),
    isPrerelease: integer({ mode: "boolean" }).notNull().default(false),
    /** Null if the account was deleted. */
    publisherId: integer().references(() => users.id, { onDelete: "set null" }),
    /** The name and id of its author on the server that it was migrated from. */
    originalAuthor: text().notNull().default(""),
    originalAuthorId: integer().notNull().default(0),
    /**
     * The time of its tag if the tag was there before it, otherwise when the tag was created with
     * it; of a draft when it was last edited. The order of lists.
     */
    createdAt: integer().notNull(),
    /** When it was last published; null for one that never was. */
    publishedAt: integer(),
  },
  (table) => [
    uniqueIndex("releases_tag").on(table.repoId, table.lowerTagName),
    // For lists without a filter, or of drafts, of which few are in the way.
    index("releases_of_repository").on(
      table.repoId,
      table.createdAt,
      table.id,
      table.isDraft,
      table.isPrerelease,
    ),
    // For the latest release among many prereleases.
    index("releases_by_created").on(
      table.repoId,
      table.isDraft,
      table.isPrerelease,
      table.createdAt,
      table.id,
    ),
    index("releases_publisher").on(table.publisherId),
  ],
);
export type Release = typeof releases.$inferSelect;
