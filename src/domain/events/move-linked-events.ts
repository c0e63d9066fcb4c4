import { eq, inArray, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { insertSelect } from "../../db/insert-select.ts";
import { eventCursors, events, relayedEvents } from "../../db/schema/index.ts";
import { EVENTS_AT_ONCE, ROUNDS_MAX, selectWaiting, toEachWaiting } from "./waiting-events.ts";

/**
 * Moves events about packages from the owner's shard to the database of the repository that the package is linked to, where its hooks and
 * its stream are. There they get ids of that database: a smaller number could not follow a larger one's.
 *
 * Safe to repeat and to run concurrently: a cursor there says up to which event it has them. A database that fails does not keep
 * the others from theirs.
 *
 * Cost: one round trip of the shard if nothing waits, and otherwise two of it and one of the other database for each fifty events.
 *
 * @param ctx `db` is the shard.
 */
export async function moveLinkedEvents(ctx: Ctx): Promise<void> {
  const { db } = ctx;
  await toEachWaiting(
    db,
    (shard) => `events of shard ${db.shard} for ${shard}`,
    (shard) => moveTo(ctx, shard),
  );
}

async function moveTo(ctx: Ctx, shard: number): Promise<void> {
  const { db: from, eventQueues } = ctx;
  const to = ctx.openShard(shard);
  const cursor = `packages of shard ${from.shard}`;
  const isCursor = eq(eventCursors.name, cursor);
  const reached = sql`(select ${eventCursors.lastId} from ${eventCursors} where ${isCursor})`;
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const rows = await selectWaiting(from, shard);
    const last = rows.at(-1);
    if (!last) return;
    await to.batch([
      to.insert(eventCursors).values({ name: cursor, lastId: 0 }).onConflictDoNothing(),
      ...rows.map(({ id, ...row }) => insertSelect(to, events, row, sql`where ${reached} < ${id}`)),
      to
        .update(eventCursors)
        .set({ lastId: sql`max(${eventCursors.lastId}, ${last.id})` })
        .where(isCursor),
    ]);
    const ids = rows.map(({ id }) => id);
    await from.batch([
      from.delete(events).where(inArray(events.id, ids)),
      from.delete(relayedEvents).where(inArray(relayedEvents.eventId, ids)),
    ]);
    await eventQueues.dispatchSoon([shard]);
    if (rows.length < EVENTS_AT_ONCE) return;
  }
  await eventQueues.dispatchSoon([from.shard]);
}
