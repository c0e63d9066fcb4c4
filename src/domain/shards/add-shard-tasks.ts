import { type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import type { Ctx } from "../../context.ts";
import { insertSelect } from "../../db/insert-select.ts";
import { jsonOf } from "../../db/json-of.ts";
import { shardRepositories, repositories, shards, shardTasks } from "../../db/schema/index.ts";
import type { NewShardTask } from "./shard-task.ts";

/**
 * The statements that leave a task to shards, for the batch of the first database with the change from which it follows. A shard does it
 * when its copies have that change. None while there are no shards.
 *
 * @param isConcerned The condition on a shard, in a query over `shards`.
 */
export function addShardTasks(
  ctx: Ctx,
  task: NewShardTask,
  isConcerned: SQL,
): BatchItem<"sqlite">[] {
  const { directory, now } = ctx;
  if (ctx.openShards().size === 0) return [];
  ctx.eventQueues.noteShardTasks();
  return [
    insertSelect(
      directory,
      shardTasks,
      { shardId: shards.id, task: jsonOf(task), dueAt: now, createdAt: now },
      sql`from ${shards} where ${isConcerned}`,
    ),
  ];
}

/** The condition that a shard has own data of a repository, which may have moved since it was read. */
export const isShardOf = ({ id }: { readonly id: number }): SQL => sql`${shards.id} = (
  select ${repositories.shard} from ${repositories} where ${repositories.id} = ${id}
)`;

/** The condition that a shard has own data of an account's repositories. Cost: the account's repositories. */
export const isShardOfOwner = (ownerId: number): SQL => sql`${shards.id} in (
  select ${repositories.shard} from ${repositories} where ${repositories.ownerId} = ${ownerId}
)`;

/** The condition that a shard has a copy of a repository's row. */
export const hasCopyOf = (repoId: number): SQL => sql`${shards.id} in (
  select ${shardRepositories.shardId} from ${shardRepositories}
  where ${shardRepositories.repoId} = ${repoId}
)`;
