import { eq, inArray, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { events, relayedEvents } from "../../db/schema/index.ts";
import { logBug } from "../../lib/log.ts";
import { EVENTS_AT_ONCE, ROUNDS_MAX, selectWaiting, toEachWaiting } from "./waiting-events.ts";

/**
 * Takes events of the first database to the shards with the repositories' own data, where hooks and feeds are told of them
 * and consequences follow. There they get ids of their own, after those that the shard has: so they neither overtake what is still
 * pending there, nor stay behind the position of a reader of the repository's stream.
 *
 * Safe to repeat and to run concurrently: an event comes to a shard once. A shard that fails does not keep the others from
 * theirs.
 *
 * Cost: nothing without shards; one round trip if nothing waits, and otherwise two of the first database and one of the shard for each
 * fifty events.
 */
export async function relayEvents(ctx: Ctx): Promise<void> {
  if (ctx.openShards().size === 0) return;
  await toEachWaiting(
    ctx.directory,
    (shard) => `shard ${shard}`,
    (shard) => relayTo(ctx, shard),
  );
}

/**
 * Takes the next events to one shard, before a request goes on there: those of what it did in the first database then come before those of
 * what follows. Never throws: a job takes what is left.
 *
 * Cost: two round trips of the first database and one of the shard.
 */
export async function relayNow(ctx: Ctx, shard: number): Promise<void> {
  try {
    await relayTo(ctx, shard, 1);
  } catch (error) {
    logBug(`shard ${shard}`, error);
  }
}

async function relayTo(ctx: Ctx, shard: number, roundsMax = ROUNDS_MAX): Promise<void> {
  const { directory, eventQueues } = ctx;
  const db = ctx.openShard(shard);
  for (let round = 0; round < roundsMax; round++) {
    const rows = await selectWaiting(directory, shard);
    const [first, ...rest] = rows.map(({ id: originalId, ...row }) =>
      db
        .insert(events)
        .values({ ...row, originalId })
        .onConflictDoNothing(),
    );
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
