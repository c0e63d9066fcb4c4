import type { Ctx } from "../../context.ts";
import type { Repository } from "../../db/schema/index.ts";

/**
 * The context of work on what is in one database.
 *
 * @param shard The number of the shard; 0 for the first database.
 * @throws Error if it has no binding.
 */
export function inDatabase(ctx: Ctx, shard: number): Ctx {
  const db = ctx.openShard(shard);
  return db === ctx.db ? ctx : { ...ctx, db };
}

/** The context of work that may change a repository's own data. */
export function inRepositoryDb(ctx: Ctx, { shard }: Pick<Repository, "shard">): Ctx {
  ctx.eventQueues.noteChanged(shard);
  return inDatabase(ctx, shard);
}
