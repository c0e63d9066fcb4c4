import { asc, inArray, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import type { Database } from "../../db/db.ts";
import { shards } from "../../db/schema/index.ts";
import { log, logBug } from "../../lib/log.ts";

/** Shards that one run measures; the next run continues with those whose size is oldest. */
const SHARDS_AT_ONCE = 100;
/** D1 takes 10 GB. */
const FULL_BYTES = 9e9;

/**
 * Measures the size of each shard, and reports those that are nearly full in the log. Safe to repeat and to run concurrently. A
 * shard that does not answer keeps its last size.
 *
 * Cost: two round trips of the first database, and one of each shard.
 *
 * @param atOnce Shards that one run measures at most.
 */
export async function measureShards(
  { directory: db, openShards, now }: Ctx,
  atOnce = SHARDS_AT_ONCE,
): Promise<void> {
  const databases = openShards();
  if (databases.size === 0) return;
  const ids = JSON.stringify([...databases.keys()]);
  const due = await db
    .select({ id: shards.id })
    .from(shards)
    .where(inArray(shards.id, sql`(select value from json_each(${ids}))`))
    .orderBy(asc(shards.measuredAt), asc(shards.id))
    .limit(atOnce);
  const measured = await Promise.all(
    due.map(async ({ id }) => {
      const shard = databases.get(id);
      return { id, sizeBytes: shard && (await sizeOf(id, shard)) };
    }),
  );
  const sizes = measured.filter(({ sizeBytes }) => sizeBytes !== undefined);
  if (sizes.length === 0) return;
  for (const { id, sizeBytes = 0 } of sizes) {
    if (sizeBytes >= FULL_BYTES) log("shards:nearly-full", { shard: id, sizeBytes });
  }
  await db.run(sql`
    update shards set size_bytes = measured.value ->> 'sizeBytes', measured_at = ${now}
    from json_each(${JSON.stringify(sizes)}) measured where shards.id = measured.value ->> 'id'`);
}

/** @returns Bytes, as D1 states them with every result; undefined if the shard does not answer. */
async function sizeOf(id: number, shard: Database): Promise<number | undefined> {
  try {
    return (await shard.run(sql`select 1`)).meta.size_after;
  } catch (error) {
    logBug(`shard ${id}`, error);
    return undefined;
  }
}
