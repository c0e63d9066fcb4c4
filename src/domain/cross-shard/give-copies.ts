import { sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { insertSelect } from "../../db/insert-select.ts";
import { shardRepositories } from "../../db/schema/index.ts";
import { copyNow } from "../shards/copy-now.ts";

/** A repository that a shard is to have a copy of. */
interface NeededCopy {
  readonly shardId: number;
  readonly repoId: number;
}

/**
 * Gives shards copies of repositories of other databases, so that their statements can tell who may see what timelines refer to. A copy that
 * is late hides the entry until it is there. Idempotent.
 *
 * Cost: one round trip of the first database; for new copies also that of `copyNow`.
 *
 * @param needed Those of shard 0 need none.
 */
export async function giveCopies(
  ctx: Pick<Ctx, "directory" | "openShards" | "defer" | "now">,
  needed: readonly NeededCopy[],
): Promise<void> {
  const wanted = needed.filter(({ shardId }) => shardId !== 0);
  if (wanted.length === 0) return;
  const given = await insertSelect(
    ctx.directory,
    shardRepositories,
    { shardId: sql`shards.id`, repoId: sql`repositories.id` },
    sql`
      from json_each(${JSON.stringify(wanted)}) wanted
      join shards on shards.id = wanted.value ->> 'shardId'
      join repositories on repositories.id = wanted.value ->> 'repoId'
      where true`,
  )
    .onConflictDoNothing()
    .returning({ shardId: shardRepositories.shardId });
  await copyNow(ctx.directory, ctx, [...new Set(given.map(({ shardId }) => shardId))]);
}
