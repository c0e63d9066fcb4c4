import { watchedDatabase } from "./watched-database.ts";

/** A database that fails inserts into the events table. */
export const withoutEvents = watchedDatabase({
  onPrepare(statement) {
    if (statement.startsWith('insert into "events"')) throw new Error("no room");
  },
});
