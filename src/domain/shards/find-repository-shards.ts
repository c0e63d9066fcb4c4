import { inArray } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { type Params, prepare } from "../../db/prepared.ts";
import { repositories } from "../../db/schema/index.ts";

const shardsOfRepositories = prepare((db, { ids }: Params<{ ids: number[] }>) =>
  db
    .select({ id: repositories.id, shard: repositories.shard })
    .from(repositories)
    .where(inArray(repositories.id, ids)),
);

/** Finds the shards of repositories, by their ids; those that were deleted are missing. Cost: one round trip of the first database. */
export async function findRepositoryShards(
  { directory }: Pick<Ctx, "directory">,
  repoIds: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  if (repoIds.length === 0) return new Map();
  const rows = await shardsOfRepositories(directory, { ids: [...new Set(repoIds)] });
  return new Map(rows.map(({ id, shard }) => [id, shard]));
}
