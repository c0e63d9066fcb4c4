import { asc, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import type { Database } from "../../db/db.ts";
import { accountDeletions, shards } from "../../db/schema/index.ts";
import { releaseSomePosts } from "./release-posts.ts";

/** Shards in which one step works. */
const SHARDS_AT_ONCE = 5;

/**
 * Takes an account that is being deleted out of some of what it did in repositories whose own data is in shards, as `releaseSomePosts`
 * does: shard by shard. `account_deletions.released_shard` says how far it is, so that it may be interrupted and repeated.
 *
 * Cost: none without shards. Otherwise two round trips of the first database and one of each of five shards.
 *
 * @param rowsMax Rows of each kind that are changed in each shard.
 * @returns Whether there may be more.
 */
export async function releaseInShards(
  ctx: Ctx,
  accountId: number,
  rowsMax: number,
): Promise<boolean> {
  const { directory } = ctx;
  if (ctx.openShards().size === 0) return false;
  const isThis = eq(accountDeletions.accountId, accountId);
  const isLeft = sql`${shards.id} > (
    select ${accountDeletions.releasedShard} from ${accountDeletions} where ${isThis}
  )`;
  const left = await directory
    .select({ id: shards.id })
    .from(shards)
    .where(isLeft)
    .orderBy(asc(shards.id))
    .limit(SHARDS_AT_ONCE + 1);
  const areReleased = await Promise.all(
    left.slice(0, SHARDS_AT_ONCE).map(({ id }) => release(ctx.openShard(id), accountId, rowsMax)),
  );
  const firstUnreleased = areReleased.indexOf(false);
  const count = firstUnreleased < 0 ? areReleased.length : firstUnreleased;
  const last = left[count - 1];
  if (last) await directory.update(accountDeletions).set({ releasedShard: last.id }).where(isThis);
  return left.length > count;
}

/** @returns Whether nothing is left. */
async function release(shard: Database, accountId: number, rowsMax: number): Promise<boolean> {
  const results = await shard.batch(releaseSomePosts(shard, accountId, rowsMax));
  return results.every(({ meta }) => meta.changes < rowsMax);
}
