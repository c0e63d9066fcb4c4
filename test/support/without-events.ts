import { watchedDatabases } from "./watched-database.ts";

/** Bindings of databases that fail inserts into the events table. */
export const withoutEvents = watchedDatabases({
  onPrepare(statement) {
    if (statement.startsWith('insert into "events"')) throw new Error("no room");
  },
});
