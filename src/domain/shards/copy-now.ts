import { and, eq, lt, max, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import type { Database } from "../../db/db.ts";
import { copiedChanges, shards } from "../../db/schema/index.ts";
import { log, logBug } from "../../lib/log.ts";
import { copyChanges } from "./copy-changes.ts";

/** Shards that one request waits for, pages of the log for each, and the time. The rest is left to the schedule. */
const SHARDS_MAX = 20;
const STEPS_MAX = 3;
const WAIT_MS = 2000;
/** For how long no request waits for a shard that did not answer one. */
const AVOIDED_MS = 60_000;

type Waiting = Pick<Ctx, "openShards" | "defer" | "now">;

/**
 * Brings the shards up to date that concern what a request wrote in the first database, before it answers: its caller's next request
 * then sees in each of them what this one did. Never throws: the schedule copies what is left.
 *
 * Cost: one round trip, and for changes of copied rows two of each shard and three more of the first database.
 *
 * @param directory The first database, by the session of the request.
 */
export async function copyAfterWrites(directory: Database, waiting: Waiting): Promise<void> {
  try {
    const behind = await directory.all<{ id: number; end: number }>(sql`
      select id, "end"
      from (
        select ${shards.id} as id,
          (select max(id) from copied_changes where shard_id = 0) as all_end,
          (select max(id) from copied_changes where shard_id = ${shards.id}) as own_end,
          ${shards.copiedChangeId} as copied,
          (select max(id) from copied_changes) as "end"
        from ${shards}
        where ${shards.seededAt} is not null and ${shards.avoidedUntil} <= ${waiting.now}
      )
      where coalesce(all_end, 0) > copied or coalesce(own_end, 0) > copied
      order by coalesce(own_end, 0) > copied desc, id
      limit ${SHARDS_MAX}`);
    await Promise.all(behind.map(({ id, end }) => copyOne(directory, waiting, { id, end })));
  } catch (error) {
    logBug("copies", error);
  }
}

/**
 * Brings shards up to date before a request answers. Never throws: a shard that fails or is too late is logged and left to the
 * schedule.
 *
 * @param directory The first database, from its primary.
 */
export async function copyNow(
  directory: Database,
  waiting: Waiting,
  shardIds: readonly number[],
): Promise<void> {
  if (shardIds.length === 0) return;
  try {
    const [last] = await directory.select({ end: max(copiedChanges.id) }).from(copiedChanges);
    const end = last?.end ?? 0;
    await Promise.all(shardIds.map((id) => copyOne(directory, waiting, { id, end })));
  } catch (error) {
    logBug("copies", error);
  }
}

/** @param to The shard, and the last entry of the log. */
async function copyOne(
  directory: Database,
  { openShards, defer, now }: Waiting,
  { id, end }: { id: number; end: number },
): Promise<void> {
  const shard = openShards().get(id);
  if (!shard) return;
  const copied = copyAll(directory, shard).catch((error: unknown) => {
    logBug(`shard ${id}`, error);
    return false;
  });
  const isCopied = await within(WAIT_MS, copied);
  if (isCopied === undefined) defer(copied);
  if (isCopied) {
    const isEarlier = and(eq(shards.id, id), lt(shards.copiedChangeId, end));
    defer(directory.update(shards).set({ copiedChangeId: end }).where(isEarlier).execute());
    return;
  }
  log("copies:late", { shard: id });
  defer(
    directory
      .update(shards)
      .set({ avoidedUntil: now + AVOIDED_MS })
      .where(eq(shards.id, id))
      .execute(),
  );
}

/** @returns Whether nothing is left. */
async function copyAll(directory: Database, shard: Database): Promise<boolean> {
  for (let step = 0; step < STEPS_MAX; step++) {
    if (await copyChanges(directory, shard)) return true;
  }
  return false;
}

/** The result of work, or undefined if it takes longer. */
async function within<T>(milliseconds: number, work: Promise<T>): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), milliseconds);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
