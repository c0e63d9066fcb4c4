import { and, asc, eq, gt, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { columnsOf } from "../../../db/db.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { eventCursors, events, repositories, users, type User } from "../../../db/schema/index.ts";
import { type ForwardedEvent, toForwardedEvent } from "../../../shapes/events/forwarded-event.ts";

/** Limits of one batch sent to a queue. */
const MESSAGES_MAX = 100;
const BATCH_BYTES_MAX = 250_000;
/** Bytes that a queue adds to each message, at most. */
const MESSAGE_OVERHEAD_BYTES = 200;

/** Rounds of one run, of `MESSAGES_MAX` events each; another message continues. */
const ROUNDS_MAX = 20;

const CURSOR = "forwarding";
/** Selects the position up to which events are forwarded. */
export const isForwardingCursor = eq(eventCursors.name, CURSOR);

/**
 * Forwards all events recorded since the last run to the operator's queue, if one is configured.
 *
 * Events are sent in the order of their ids, each at least once: the cursor advances after the
 * queue has accepted a batch, so after an interruption the next run sends that batch again.
 * Concurrent runs are safe: only one of them advances the cursor past a batch, and the others
 * continue from there. The very first run sends nothing and sets the cursor behind the newest
 * event.
 *
 * Cost: two round trips and one message for each hundred events.
 */
export async function forwardEvents(ctx: Ctx): Promise<void> {
  if (!ctx.eventQueues.isForwarding) return;
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const { lastId, waiting } = await readWaiting(ctx);
    if (waiting.length === 0) return;
    const isAccepted = await forwardAll(ctx, lastId, waiting);
    // The schedule retries.
    if (!isAccepted) return;
  }
  await ctx.eventQueues.dispatchSoon();
}

/** An event as a message, with its size in bytes. */
type Waiting = ReturnType<typeof toForwardedEvent>;

/** @returns False if the queue refuses a batch. */
async function forwardAll(
  ctx: Ctx,
  firstId: number,
  waiting: readonly Waiting[],
): Promise<boolean> {
  let lastId = firstId;
  for (const messages of batchesOf(waiting)) {
    if (!(await ctx.eventQueues.forward(messages))) return false;
    const nextId = messages.at(-1)?.id ?? lastId;
    const advanced = await ctx.db
      .update(eventCursors)
      .set({ lastId: nextId })
      .where(and(isForwardingCursor, eq(eventCursors.lastId, lastId)))
      .returning();
    // A concurrent run sent this batch as well: read the events behind its cursor.
    if (advanced.length === 0) return true;
    lastId = nextId;
  }
  return true;
}

/** Splits messages into batches that a queue accepts. */
function batchesOf(waiting: readonly Waiting[]): ForwardedEvent[][] {
  const batches: ForwardedEvent[][] = [];
  let bytesLeft = 0;
  for (const { message, bytes } of waiting) {
    const size = bytes + MESSAGE_OVERHEAD_BYTES;
    if (size > bytesLeft) {
      batches.push([]);
      bytesLeft = BATCH_BYTES_MAX;
    }
    bytesLeft -= size;
    batches.at(-1)?.push(message);
  }
  return batches;
}

/** Reads the events behind the cursor, as an administrator sees them. */
async function readWaiting({ db, config }: Ctx) {
  const owners = alias(users, "owners");
  const repoOwners = alias(users, "repo_owners");
  const forwardedId = db
    .select({ id: eventCursors.lastId })
    .from(eventCursors)
    .where(isForwardingCursor);
  const { cursor, rows } = await batch(db, {
    // The first run starts behind the newest event.
    begun: insertSelect(
      db,
      eventCursors,
      { name: CURSOR, lastId: sql`coalesce(max(${events.id}), 0)` },
      sql`from ${events} where true`,
    ).onConflictDoNothing(),
    cursor: forwardedId,
    rows: db
      .select({
        event: columnsOf(events, "e"),
        actor: columnsOf(users, "u"),
        owner: columnsOf(owners, "o"),
        repoId: sql<number | null>`${repositories.id}`.as("listed_repo_id"),
        repoName: sql<string>`${repositories.name}`.as("listed_repo_name"),
        repoOwner: sql<string>`${repoOwners.name}`.as("listed_repo_owner"),
      })
      .from(events)
      .leftJoin(users, eq(users.id, events.actorId))
      .leftJoin(owners, eq(owners.id, events.ownerId))
      .leftJoin(repositories, eq(repositories.id, events.repoId))
      .leftJoin(repoOwners, eq(repoOwners.id, repositories.ownerId))
      .where(gt(events.id, sql`${forwardedId}`))
      .orderBy(asc(events.id))
      .limit(MESSAGES_MAX),
  });
  const waiting = rows.map(({ event, actor, owner, repoId, repoName, repoOwner }) => {
    const viewer = {
      userId: undefined,
      isSiteAdmin: true,
      rootUrl: config.publicUrl || event.rootUrl,
      noReplyDomain: config.noReplyDomain,
    };
    const repo = repoId === null ? undefined : { id: repoId, name: repoName, owner: repoOwner };
    return toForwardedEvent({ event, actor: joinedUser(actor), repo }, joinedUser(owner), viewer);
  });
  return { lastId: cursor[0]?.id ?? 0, waiting };
}

/** A joined account; all its columns are null if no row matched. */
const joinedUser = (user: User | null): User | undefined =>
  (user?.id as number | null | undefined) == null ? undefined : (user ?? undefined);
