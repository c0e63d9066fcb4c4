import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

import { users } from "./accounts.ts";
import { issues } from "./issues.ts";

/** The changed files of pull requests that a user has viewed, for that user alone. */
export const viewedFiles = sqliteTable(
  "viewed_files",
  {
    issueId: integer()
      .notNull()
      .references(() => issues.id, { onDelete: "cascade" }),
    userId: integer()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    path: text().notNull(),
    /** The blob that was viewed. The file is not viewed any more once it has another one. */
    oid: text().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.issueId, table.userId, table.path] }),
    index("viewed_files_user").on(table.userId),
  ],
);
