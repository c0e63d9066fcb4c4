import { and, asc, eq, gt, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import type { Ctx } from "../../context.ts";
import { columnsOf } from "../../db/db.ts";
import { insertSelect } from "../../db/insert-select.ts";
import { eventCursors, events, repositories, users, type User } from "../../db/schema/index.ts";
import { type ForwardedEvent, toForwardedEvent } from "../../shapes/events/forwarded-event.ts";

/** What a queue takes at once. */
const MESSAGES_MAX = 100;
const BATCH_BYTES_MAX = 250_000;
/** What a queue adds to each message, at most. */
const MESSAGE_OVERHEAD_BYTES = 200;

/** Looks of one run, of `MESSAGES_MAX` events each; another message goes on. */
const LOOKS_MAX = 20;

const CURSOR = "forwarding";
const isCursor = eq(eventCursors.name, CURSOR);

/**
 * Sends all events that were recorded since the last time to the queue of the operator, if there is one.
 *
 * They go in the order of their ids, and each at least once: the cursor follows what the queue has taken,
 * so whoever is cut off in between leaves it to the next run to send that part again. Several may run at
 * once: only one moves the cursor over a part, and who comes too late goes on from there. The first run
 * there ever is sends nothing and begins with what happens next.
 *
 * Cost: two rounds and one message for each hundred events.
 */
export async function forwardEvents(ctx: Ctx): Promise<void> {
  if (!ctx.eventQueues.isForwarding) return;
  for (let look = 0; look < LOOKS_MAX; look++) {
    const { lastId, waiting } = await readWaiting(ctx);
    if (waiting.length === 0) return;
    const isTaken = await forwardAll(ctx, lastId, waiting);
    // The schedule tries again.
    if (!isTaken) return;
  }
  await ctx.eventQueues.dispatchSoon();
}

/** An event as a message, with the bytes it takes. */
type Waiting = ReturnType<typeof toForwardedEvent>;

/** @returns False if the queue takes none. */
async function forwardAll(
  ctx: Ctx,
  firstId: number,
  waiting: readonly Waiting[],
): Promise<boolean> {
  let lastId = firstId;
  for (const part of partsOf(waiting)) {
    if (!(await ctx.eventQueues.forward(part))) return false;
    const nextId = part.at(-1)?.id ?? lastId;
    const moved = await ctx.db
      .update(eventCursors)
      .set({ lastId: nextId })
      .where(and(isCursor, eq(eventCursors.lastId, lastId)))
      .returning();
    // Somebody else sent these as well: what they have not come to yet is read anew.
    if (moved.length === 0) return true;
    lastId = nextId;
  }
  return true;
}

/** Messages in parts that a queue takes. */
function partsOf(waiting: readonly Waiting[]): ForwardedEvent[][] {
  const parts: ForwardedEvent[][] = [];
  let bytesLeft = 0;
  for (const { message, bytes } of waiting) {
    const size = bytes + MESSAGE_OVERHEAD_BYTES;
    if (size > bytesLeft) {
      parts.push([]);
      bytesLeft = BATCH_BYTES_MAX;
    }
    bytesLeft -= size;
    parts.at(-1)?.push(message);
  }
  return parts;
}

/** The events that follow the cursor, as an administrator sees them. */
async function readWaiting({ db, config }: Ctx) {
  const owners = alias(users, "owners");
  const [, [cursor], rows] = await db.batch([
    insertSelect(
      db,
      eventCursors,
      { name: CURSOR, lastId: sql`coalesce(max(${events.id}), 0)` },
      sql`from ${events} where true`,
    ).onConflictDoNothing(),
    db.select().from(eventCursors).where(isCursor),
    db
      .select({
        event: columnsOf(events, "e"),
        actor: columnsOf(users, "u"),
        owner: columnsOf(owners, "o"),
        repoId: sql<number | null>`${repositories.id}`.as("listed_repo_id"),
        repoName: sql<string>`${repositories.name}`.as("listed_repo_name"),
        repoOwner:
          sql<string>`(select o.name from users o where o.id = ${repositories.ownerId})`.as(
            "listed_repo_owner",
          ),
      })
      .from(events)
      .leftJoin(users, eq(users.id, events.actorId))
      .leftJoin(owners, eq(owners.id, events.ownerId))
      .leftJoin(repositories, eq(repositories.id, events.repoId))
      .where(gt(events.id, sql`(select last_id from ${eventCursors} where ${isCursor})`))
      .orderBy(asc(events.id))
      .limit(MESSAGES_MAX),
  ]);
  const waiting = rows.map(({ event, actor, owner, repoId, repoName, repoOwner }) => {
    const viewer = {
      userId: undefined,
      isSiteAdmin: true,
      rootUrl: event.rootUrl || config.rootUrl,
      noReplyDomain: config.noReplyDomain,
    };
    const repo = repoId === null ? undefined : { id: repoId, name: repoName, owner: repoOwner };
    return toForwardedEvent({ event, actor: there(actor), repo }, there(owner), viewer);
  });
  return { lastId: cursor?.lastId ?? 0, waiting };
}

/** A joined account; all its columns are null where there is none. */
const there = (user: User | null): User | undefined =>
  (user?.id as number | null | undefined) == null ? undefined : (user ?? undefined);
