import type { Ctx } from "../../context.ts";
import { markCopied, selectUncopied, writeAccountShards } from "../../db/copies/noted-accounts.ts";
import { forgetNoted, type OwnedRow, selectNoted, writeOwned } from "../../db/copies/owned-sql.ts";
import type { Database } from "../../db/db.ts";
import { shardCopies } from "../../db/schema/index.ts";
import { logBug } from "../../lib/log.ts";

/** Repositories that are copied at once. */
const ROWS_AT_ONCE = 100;
/** Accounts whose shards are told at once. */
const ACCOUNTS_AT_ONCE = 500;
/** Steps of one shard in one run; the next run continues. */
const STEPS_MAX = 50;

/**
 * Brings the first database's copies of the columns that shards own up to date, and tells it which accounts each has something of. Safe to repeat and to run concurrently. A
 * shard that fails does not keep the others from it.
 */
export async function copyFromShards({ directory, openShards }: Ctx): Promise<void> {
  await Promise.all(
    [...openShards()].map(async ([id, shard]) => {
      try {
        await copyFromShard(directory, shard);
      } catch (error) {
        logBug(`shard ${id}`, error);
      }
    }),
  );
}

/**
 * The same for one shard. What a run reads is written only where nothing newer is, and noted until it is written: of runs at
 * once, the newest value stays.
 *
 * Cost: one round trip of the shard, and one of each database for each hundred repositories that changed.
 *
 * @param directory The first database, from its primary.
 * @param shard The shard's database.
 */
export async function copyFromShard(directory: Database, shard: Database): Promise<void> {
  const read = (after: number) => shard.textStatement(selectNoted(after, ROWS_AT_ONCE));
  const accounts = shard.textStatement(selectUncopied(ACCOUNTS_AT_ONCE));
  const [[state], first, uncopied] = await shard.batch([
    shard.select().from(shardCopies).limit(1),
    read(0),
    accounts,
  ]);
  // One that is not set up yet has no changes.
  if (!state) return;
  let ids = idsOf(uncopied);
  for (let step = 0; step < STEPS_MAX && ids.length > 0; step++) {
    await directory.run(writeAccountShards(ids, state.shardId));
    const [, next] = await shard.batch([shard.textStatement(markCopied(ids)), accounts]);
    ids = idsOf(next);
  }
  let rows = first as OwnedRow[];
  for (let step = 0; step < STEPS_MAX; step++) {
    const last = rows.at(-1);
    if (!last) return;
    await directory.run(writeOwned(rows, state.shardId));
    const [, next] = await shard.batch([shard.textStatement(forgetNoted(rows)), read(last.id)]);
    rows = next as OwnedRow[];
  }
}

const idsOf = (rows: unknown): number[] => (rows as { id: number }[]).map(({ id }) => id);
