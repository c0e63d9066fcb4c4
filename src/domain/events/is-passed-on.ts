import { sql } from "drizzle-orm";

import { events, relayedEvents, shardCopies } from "../../db/schema/index.ts";

/** Whether an event of a shard waits to be moved to another database, which then has it alone. On the rows of `events`. */
export const isPassedOn = sql`exists (
  select 1 from ${shardCopies} join ${relayedEvents} on ${relayedEvents.eventId} = ${events.id}
)`;
