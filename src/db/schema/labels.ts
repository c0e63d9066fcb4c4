import { sql } from "drizzle-orm";
import { check, index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

import { users } from "./accounts.ts";
import { issues } from "./issues.ts";

/** Labels of a repository, or of an organization for all its repositories. */
export const labels = sqliteTable(
  "labels",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    /** No foreign key, see `repositoryRemains`. */
    repoId: integer(),
    orgId: integer().references(() => users.id, { onDelete: "cascade" }),
    name: text().notNull(),
    /** Six lower-case hex digits. */
    color: text().notNull(),
    description: text().notNull().default(""),
    isExclusive: integer({ mode: "boolean" }).notNull().default(false),
    archivedAt: integer(),
    /** The issues and pull requests that have it. Maintained by triggers. */
    openIssueCount: integer().notNull().default(0),
    closedIssueCount: integer().notNull().default(0),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
  },
  (table) => [
    index("labels_repo").on(table.repoId, table.name),
    index("labels_org").on(table.orgId, table.name),
    // Searches over all repositories name labels.
    index("labels_name").on(table.name),
    check("labels_owner", sql`(${table.repoId} is null) <> (${table.orgId} is null)`),
  ],
);
export type Label = typeof labels.$inferSelect;

export const issueLabels = sqliteTable(
  "issue_labels",
  {
    issueId: integer()
      .notNull()
      .references(() => issues.id, { onDelete: "cascade" }),
    labelId: integer()
      .notNull()
      .references(() => labels.id, { onDelete: "cascade" }),
    /**
     * Copied from the issue, so that one index serves the lists by label. Maintained by triggers.
     */
    repoId: integer().notNull(),
    isPull: integer({ mode: "boolean" }).notNull(),
    isClosed: integer({ mode: "boolean" }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.issueId, table.labelId] }),
    index("issue_labels_label").on(
      table.labelId,
      table.repoId,
      table.isPull,
      table.isClosed,
      table.issueId,
    ),
  ],
);
