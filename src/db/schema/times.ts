import { index, integer, primaryKey, sqliteTable } from "drizzle-orm/sqlite-core";

import { users } from "./accounts.ts";
import { issues } from "./issues.ts";

/** Time that users booked on issues. */
export const trackedTimes = sqliteTable(
  "tracked_times",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    /** No foreign key, see `repositoryRemains`. */
    repoId: integer().notNull(),
    issueId: integer()
      .notNull()
      .references(() => issues.id, { onDelete: "cascade" }),
    userId: integer()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    seconds: integer().notNull(),
    /** When the work was done, as it was booked. */
    createdAt: integer().notNull(),
    /**
     * When it was booked, by which lists are filtered: a report finds what was booked for an
     * earlier day later.
     */
    bookedAt: integer().notNull().default(0),
  },
  (table) => [
    index("tracked_times_issue").on(table.issueId, table.id),
    index("tracked_times_repo").on(table.repoId, table.id),
    index("tracked_times_user").on(table.userId, table.id),
  ],
);
export type TrackedTime = typeof trackedTimes.$inferSelect;

/** Running stopwatches. */
export const stopwatches = sqliteTable(
  "stopwatches",
  {
    userId: integer()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    issueId: integer()
      .notNull()
      .references(() => issues.id, { onDelete: "cascade" }),
    createdAt: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.userId, table.issueId] }),
    index("stopwatches_issue").on(table.issueId),
  ],
);
