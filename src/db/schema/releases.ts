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
    /** The commit of its tag; "" for a draft without one. */
    commitOid: text().notNull().default(""),
    /** The time of the commit of its tag, or of its creation for a draft: the order of lists. */
    createdAt: integer().notNull(),
    /** When it was published last; null for a draft. */
    publishedAt: integer(),
  },
  (table) => [
    uniqueIndex("releases_tag").on(table.repoId, table.lowerTagName),
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
