import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** When each scheduled task ran; a task without a row never ran. */
export const cronRuns = sqliteTable("cron_runs", {
  task: text().primaryKey(),
  /** Of the latest run, in milliseconds. */
  startedAt: integer().notNull(),
  runCount: integer().notNull(),
});
