import { and, type AnyColumn, eq, inArray, lt, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { eventCursors, events, repositories, users } from "../../../db/schema/index.ts";
import { isForwardingCursor } from "./forward-events.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** Greater than every id. */
const NEVER = sql.raw(String(Number.MAX_SAFE_INTEGER));

/** Events that one round deletes. */
const EVENTS_AT_ONCE = 2000;
/** Rounds of one run; the next run continues. */
const ROUNDS_MAX = 20;

/**
 * Deletes events past the configured retention, oldest first, up to the first that is still to be
 * dispatched to hooks, whose consequences are pending, or that is to be forwarded to the
 * operator's queue. Their repositories and owners keep the id of the last one, for readers of
 * streams who come back later. Safe to repeat and to run concurrently.
 *
 * Nothing else needs the row of an event: deliveries have what they send, and a mail of a
 * notification, which is given up after some hours, is written without it as if its reader had
 * lost access.
 *
 * @param atOnce Events that one round deletes at most.
 */
export async function sweepEvents(
  { db, now, config, eventQueues }: Ctx,
  atOnce = EVENTS_AT_ONCE,
): Promise<void> {
  if (config.eventDays === 0) return;
  const first = (column: AnyColumn) =>
    sql`coalesce((select min(${events.id}) from ${events} where ${column} is not null), ${NEVER})`;
  // Without the queue the cursor stays where it was, and would keep all later events.
  const forwarded = eventQueues.isForwarding
    ? sql`coalesce(
        (select ${eventCursors.lastId} + 1 from ${eventCursors} where ${isForwardingCursor}), 0
      )`
    : NEVER;
  const end = sql`min(${first(events.dispatchAt)}, ${first(events.consequencesAt)}, ${forwarded})`;
  // Ids rise with time, so the oldest rows come first by id and no index by time is needed.
  const oldest = db
    .select({ id: events.id, createdAt: events.createdAt })
    .from(events)
    .where(lt(events.id, end))
    .orderBy(events.id)
    .limit(atOnce)
    .as("oldest");
  const outdated = db
    .select({ id: oldest.id })
    .from(oldest)
    .where(lt(oldest.createdAt, now - config.eventDays * DAY_MS));
  const isOutdated = inArray(events.id, outdated);
  /** Notes the last event of each repository, or owner, that is about to be deleted. */
  const note = (stream: typeof repositories | typeof users, column: AnyColumn) => {
    const ofStream = db
      .select({ last: sql<number>`max(${events.id})` })
      .from(events)
      .where(and(eq(column, stream.id), isOutdated));
    const streams = db
      .select({ id: sql<number>`${column}` })
      .from(events)
      .where(isOutdated);
    return db
      .update(stream)
      .set({ sweptEventId: sql`${ofStream}` })
      .where(inArray(stream.id, streams));
  };
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const { deleted } = await batch(db, {
      repositories: note(repositories, events.repoId),
      users: note(users, events.ownerId),
      deleted: db.delete(events).where(isOutdated),
    });
    if (deleted.meta.changes < atOnce) return;
  }
}
