import { sql } from "drizzle-orm";

import { LAST_INSERT_ID } from "../../../db/json-of.ts";
import { timelineEntries } from "../../../db/schema/index.ts";

/**
 * In the batch that books time: the id of the time, after the statement that inserts the entry
 * about it.
 */
export const lastTimeId = sql<number>`(
  select ${timelineEntries.timeId}
  from ${timelineEntries}
  where ${timelineEntries.id} = ${LAST_INSERT_ID}
)`;
