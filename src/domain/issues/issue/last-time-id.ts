import { sql } from "drizzle-orm";

import { LAST_INSERT_ID } from "../../../db/json-of.ts";
import { timelineEntries } from "../../../db/schema/index.ts";

/**
 * The id of a new time, in the batch that books it, after the statement that inserts its entry.
 */
export const lastTimeId = sql<number>`(
  select ${timelineEntries.timeId}
  from ${timelineEntries}
  where ${timelineEntries.id} = ${LAST_INSERT_ID}
)`;
