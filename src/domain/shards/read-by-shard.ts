import type { Ctx } from "../../context.ts";
import type { Database } from "../../db/db.ts";

/**
 * Reads what belongs to items in their databases, in all at once.
 *
 * @param shardOf The shard of an item; undefined leaves it out, as what belongs to a deleted repository.
 * @param read    Reads it for the items of one database.
 */
export async function readByShard<T, R>(
  { openShard }: Pick<Ctx, "openShard">,
  items: readonly T[],
  shardOf: (item: T) => number | undefined,
  read: (db: Database, items: readonly T[]) => PromiseLike<readonly R[]>,
): Promise<R[]> {
  const byShard = [...Map.groupBy(items, shardOf)].flatMap(([shard, some]) =>
    shard === undefined ? [] : [{ shard, some }],
  );
  const parts = await Promise.all(
    byShard.map(async ({ shard, some }) => read(openShard(shard), some)),
  );
  return parts.flat();
}
