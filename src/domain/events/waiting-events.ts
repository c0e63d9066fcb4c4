import { asc, eq, getTableColumns } from "drizzle-orm";

import type { Database } from "../../db/db.ts";
import { events, relayedEvents } from "../../db/schema/index.ts";
import { forEach } from "../../lib/for-each.ts";
import { logBug } from "../../lib/log.ts";

// Events that wait in a database to be taken to another one.

/** Events that one batch takes. */
export const EVENTS_AT_ONCE = 50;
/** Batches of one run to a database; another message continues. */
export const ROUNDS_MAX = 5;
/** Databases that get events concurrently. */
const DATABASES_AT_ONCE = 4;

/**
 * Takes what waits in a database to each of the others. One that fails is logged and does not keep the others from theirs.
 *
 * @param nameOf The name of another database in the log.
 * @param take   Takes events to a database, by the number of its shard.
 * @throws Whatever `take` throws.
 */
export async function toEachWaiting(
  db: Database,
  nameOf: (shard: number) => string,
  take: (shard: number) => Promise<void>,
): Promise<void> {
  const waiting = await db.selectDistinct({ shard: relayedEvents.shardId }).from(relayedEvents);
  await forEach(waiting, DATABASES_AT_ONCE, async ({ shard }) => {
    try {
      await take(shard);
    } catch (error) {
      logBug(nameOf(shard), error);
      throw error;
    }
  });
}

/**
 * Selects the next events that wait in a database for another one, oldest first, as they are due there.
 *
 * @param shard The number of the other database.
 */
export const selectWaiting = (db: Database, shard: number) =>
  db
    .select({
      ...getTableColumns(events),
      dispatchAt: relayedEvents.dispatchAt,
      consequencesAt: relayedEvents.consequencesAt,
    })
    .from(relayedEvents)
    .innerJoin(events, eq(events.id, relayedEvents.eventId))
    .where(eq(relayedEvents.shardId, shard))
    .orderBy(asc(relayedEvents.eventId))
    .limit(EVENTS_AT_ONCE);
