import { sql } from "drizzle-orm";

/**
 * In the batch that books time: the id of the time, after the statement that inserts the entry
 * about it.
 */
export const lastTimeId = sql<number>`(
  select time_id from timeline_entries where id = last_insert_rowid()
)`;
