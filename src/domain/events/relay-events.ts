import { asc, eq, getTableColumns, inArray, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { events, relayedEvents } from "../../db/schema/index.ts";
import { forEach } from "../../lib/for-each.ts";
import { logBug } from "../../lib/log.ts";

/** Events that one batch takes to a shard. */
const EVENTS_AT_ONCE = 50;
/** Batches of one run to a shard; another message continues. */
const ROUNDS_MAX = 5;
/** Shards that get events concurrently. */
const SHARDS_AT_ONCE = 4;

/**
 * Takes events of the first database to the shards with the repositories' own data, where hooks and feeds are told of them
 * and consequences follow. There they have the same ids, which are less than those of the shard's own.
 *
 * Safe to repeat and to run concurrently: an event comes to a shard once. A shard that fails does not keep the others from
 * theirs.
 *
 * Cost: nothing without shards; one round trip if nothing waits, and otherwise two of the first database and one of the shard for each
 * fifty events.
 */
export async function relayEvents(ctx: Ctx): Promise<void> {
  if (ctx.openShards().size === 0) return;
  const waiting = await ctx.directory
    .selectDistinct({ shard: relayedEvents.shardId })
    .from(relayedEvents);
  await forEach(waiting, SHARDS_AT_ONCE, async ({ shard }) => {
    try {
      await relayTo(ctx, shard);
    } catch (error) {
      logBug(`shard ${shard}`, error);
      throw error;
    }
  });
}

async function relayTo(ctx: Ctx, shard: number): Promise<void> {
  const { directory, eventQueues } = ctx;
  const db = ctx.openShard(shard);
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const rows = await directory
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
    const [first, ...rest] = rows.map((row) => db.insert(events).values(row).onConflictDoNothing());
    if (!first) return;
    await db.batch([first, ...rest]);
    const ids = rows.map(({ id }) => id);
    await directory.batch([
      // Whoever may not read what was deleted may not read it here: the shard has what hooks are still to be told.
      directory
        .update(events)
        .set({ payload: sql`json_remove(${events.payload}, '$.lastPayload')` })
        .where(
          sql`${inArray(events.id, ids)} and ${events.payload} ->> '$.lastPayload' is not null`,
        ),
      directory
        .delete(relayedEvents)
        .where(sql`${eq(relayedEvents.shardId, shard)} and ${inArray(relayedEvents.eventId, ids)}`),
    ]);
    await eventQueues.dispatchSoon([shard]);
    if (rows.length < EVENTS_AT_ONCE) return;
  }
  await eventQueues.dispatchSoon([0]);
}
