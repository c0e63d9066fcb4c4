import { sql, type SQL } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import type { Database } from "../../db/db.ts";
import { crossShardDependencies, issueDependencies } from "../../db/schema/index.ts";
import { findRepositoryShards } from "../shards/find-repository-shards.ts";
import { readByShard } from "../shards/read-by-shard.ts";
import type { Dependency } from "./dependency.ts";

/** Maximum issues that are searched for a circle: those for which the blocker waits, directly or not. */
export const SEARCHED_MAX = 5000;
/** Times that a search goes on in other databases. */
const STEPS_MAX = 50;
/** For how long a dependency that is being checked counts for other searches. Its own ends long before, or in vain. */
const CANDIDATE_MS = 5 * 60 * 1000;

/** The condition, over `cross_shard_dependencies`, that a search follows a row. */
export const isFollowed = (now: number): SQL =>
  sql`(
    ${crossShardDependencies.isChecked}
    or ${crossShardDependencies.createdAt} > ${now - CANDIDATE_MS}
  )`;

/** The condition, in the statement that inserts a dependency, that an issue waits for one of another database, directly or not. */
export const reachesOtherShards = (walk: SQL, now: number): SQL => sql`exists (
  select 1 from ${crossShardDependencies}
  where ${crossShardDependencies.issueId} in (select id from ${walk}) and ${isFollowed(now)}
)`;

/** An issue for which a search goes on in its database. */
interface Waiting {
  readonly id: number;
  readonly repoId: number;
}

/**
 * Searches all databases for whether the blocking issue waits for the blocked one. True as well if the issues are too many to be walked.
 *
 * Cost: two round trips for each time that the search goes on in other databases.
 */
export async function closesCircle(
  ctx: Ctx,
  { blocked, blocker }: Pick<Dependency, "blocked" | "blocker">,
): Promise<boolean> {
  const seen = new Set<number>();
  let waiting: readonly Waiting[] = [blocker.row];
  for (let step = 0; waiting.length > 0; step++) {
    if (step === STEPS_MAX) return true;
    const shards = await findRepositoryShards(
      ctx,
      waiting.map(({ repoId }) => repoId),
    );
    // What belongs to a deleted repository blocks nothing.
    const shardOf = ({ repoId }: Waiting) => shards.get(repoId);
    const found = await readByShard(ctx, waiting, shardOf, (db, some) => walk(db, some, ctx.now));
    for (const { id } of found) seen.add(id);
    if (seen.has(blocked.row.id) || seen.size > SEARCHED_MAX) return true;
    waiting = found.flatMap(({ blockerId: id, blockerRepoId: repoId }) =>
      id === null || repoId === null || seen.has(id) ? [] : [{ id, repoId }],
    );
  }
  return false;
}

interface Walked {
  readonly id: number;
  readonly blockerId: number | null;
  readonly blockerRepoId: number | null;
}

/** Walks what issues wait for in their database, and lists what that waits for in others. */
const walk = (db: Database, from: readonly Waiting[], now: number): Promise<Walked[]> =>
  db.all<Walked>(sql`
    with recursive walk(id) as (
      select value from json_each(${JSON.stringify(from.map(({ id }) => id))})
      union
      select d.blocker_id
      from walk
      join ${issueDependencies} d on d.issue_id = walk.id
      limit ${SEARCHED_MAX + 1}
    )
    select
      walk.id,
      ${crossShardDependencies.blockerId} as "blockerId",
      ${crossShardDependencies.blockerRepoId} as "blockerRepoId"
    from walk
    left join ${crossShardDependencies}
      on ${crossShardDependencies.issueId} = walk.id and ${isFollowed(now)}`);
