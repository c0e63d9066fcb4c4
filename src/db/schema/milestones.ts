import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const milestones = sqliteTable(
  "milestones",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    /** No foreign key, see `repositoryRemains`. */
    repoId: integer().notNull(),
    title: text().notNull(),
    description: text().notNull().default(""),
    isClosed: integer({ mode: "boolean" }).notNull().default(false),
    closedAt: integer(),
    deadlineAt: integer(),
    /** Its issues and pull requests. Maintained by triggers. */
    openIssueCount: integer().notNull().default(0),
    closedIssueCount: integer().notNull().default(0),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
  },
  (table) => [
    index("milestones_by_deadline").on(table.repoId, table.isClosed, table.deadlineAt, table.id),
    index("milestones_title").on(table.repoId, table.title),
    index("milestones_all_titles").on(table.title),
  ],
);
export type Milestone = typeof milestones.$inferSelect;
