import { type SQL, sql } from "drizzle-orm";

import { repositories, shardCopies } from "../../db/schema/index.ts";

/**
 * Whether the own data of a repository is in the database that is asked: its row may be in others as well. On the `repositories` rows
 * of a query.
 */
export const isShardOfThisDatabase = sql`${repositories.shard} = coalesce((
  select ${shardCopies.shardId} from ${shardCopies} limit 1
), 0)`;

/** The same for the repository of an id. */
export const isOfThisDatabase = (repoId: SQL): SQL => sql`exists (
  select 1 from ${repositories} where ${repositories.id} = ${repoId} and ${isShardOfThisDatabase}
)`;
