import { eq, lte, max, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import type { Database } from "../../db/db.ts";
import { copiedChanges, shards } from "../../db/schema/index.ts";
import { logBug } from "../../lib/log.ts";
import { copyChanges } from "./copy-changes.ts";
import { showForgotten } from "./hide-copies.ts";
import { keepIdRanges, openIdRanges } from "./id-ranges.ts";
import { seedShard } from "./seed-shard.ts";
import { setUpShard } from "./set-up-shard.ts";

/** Steps of one shard in one run; the next run continues. */
const STEPS_MAX = 100;
/** Entries of the log that are removed by one run. */
const REMOVED_MAX = 10_000;

/**
 * Brings the copies in all shards up to date, enters new shards, and removes what all have copied from the log. Safe to
 * repeat and to run concurrently. A shard that fails does not keep the others from it.
 */
export async function copyToShards({ directory: db, openShards, now }: Ctx): Promise<void> {
  const databases = openShards();
  if (databases.size === 0) return;
  await showForgotten(db, now);
  await Promise.all(
    [...databases].map(async ([id, shard]) => {
      try {
        await copyToShard(db, { id, db: shard }, now);
      } catch (error) {
        logBug(`shard ${id}`, error);
      }
    }),
  );
  const copied = sql`(select min(${shards.copiedChangeId}) from ${shards})`;
  await db.delete(copiedChanges).where(
    sql`${copiedChanges.id} in (
      select id from ${copiedChanges} where ${lte(copiedChanges.id, copied)}
      order by id limit ${REMOVED_MAX}
    )`,
  );
}

/**
 * Brings the copies in all shards up to date, for a start of the service, which must not begin without them.
 *
 * @returns Whether they have everything; otherwise it is to be repeated.
 * @throws Error if a shard has no database, or that of another shard.
 */
export async function catchUpShards({ directory, openShards, now }: Ctx): Promise<boolean> {
  const databases = openShards();
  const known = await directory.select({ id: shards.id }).from(shards).orderBy(shards.id);
  const missing = known.find(({ id }) => !databases.has(id));
  if (missing) throw new Error(`shard ${missing.id} has no database`);
  const areCurrent = await Promise.all(
    [...databases].map(([id, shard]) => copyToShard(directory, { id, db: shard }, now)),
  );
  return areCurrent.every(Boolean);
}

/**
 * Brings the copies of one shard up to date, and enters a new one. Safe to repeat and to run concurrently.
 *
 * @param directory The first database, from its primary.
 * @returns Whether it has everything.
 */
export async function copyToShard(
  directory: Database,
  { id, db: shard }: { id: number; db: Database },
  now: number,
): Promise<boolean> {
  const ranges = await openIdRanges(directory, id);
  const known = await setUpShard(shard, id, ranges);
  const unlisted = known.filter((number) => !ranges.includes(number));
  await keepIdRanges(directory, id, unlisted);
  await directory.insert(shards).values({ id, createdAt: now }).onConflictDoNothing();
  let isSeeded = false;
  for (let step = 0; step < STEPS_MAX; step++) {
    isSeeded ||= await seedShard(directory, id, now);
    // What comes later may be for other shards alone, and is not in this one's copies.
    const [log] = await directory.select({ end: max(copiedChanges.id) }).from(copiedChanges);
    if (!(await copyChanges(directory, shard)) || !isSeeded) continue;
    await directory
      .update(shards)
      .set({ copiedChangeId: log?.end ?? shards.copiedChangeId })
      .where(eq(shards.id, id));
    return true;
  }
  return false;
}
