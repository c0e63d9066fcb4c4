import { eq, lte, max, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import type { Database } from "../../db/db.ts";
import { copiedChanges, shards } from "../../db/schema/index.ts";
import { logBug } from "../../lib/log.ts";
import { copyChanges } from "./copy-changes.ts";
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

async function copyToShard(
  directory: Database,
  { id, db: shard }: { id: number; db: Database },
  now: number,
): Promise<void> {
  await setUpShard(shard, id);
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
    return;
  }
}
