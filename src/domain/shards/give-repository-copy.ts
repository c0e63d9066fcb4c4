import { eq, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { insertSelect } from "../../db/insert-select.ts";
import { repositories, shardRepositories } from "../../db/schema/index.ts";
import { copyToShard } from "./copy-to-shards.ts";

/**
 * Gives a shard a copy of a repository's row, with all copied rows about it, for what is to refer to it there. The copy follows the
 * original from then on, until the repository is deleted; there is none of one that is deleted already.
 *
 * Cost: nothing for the first database; else some round trips of both, for which linking is rare enough.
 *
 * @param shard Its number; 0 for the first database, which has the original.
 * @throws Error if the shard can't be brought up to date.
 */
export async function giveRepositoryCopy(ctx: Ctx, repoId: number, shard: number): Promise<void> {
  if (shard === 0) return;
  const { directory, now } = ctx;
  await insertSelect(
    directory,
    shardRepositories,
    { shardId: sql`${shard}`, repoId: repositories.id },
    sql`from ${repositories} where ${eq(repositories.id, repoId)}`,
  ).onConflictDoNothing();
  const isCurrent = await copyToShard(directory, { id: shard, db: ctx.openShard(shard) }, now);
  if (!isCurrent) throw new Error(`shard ${shard} has not copied all changes`);
}
