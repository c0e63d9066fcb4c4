import { and, eq, inArray, sql, type SQL } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { hasOpenBlockers } from "../../db/open-blockers.ts";
import { type Params, prepare } from "../../db/prepared.ts";
import { crossShardDependencies, issues, repositories } from "../../db/schema/index.ts";
import { Failure } from "../../lib/failure.ts";
import { findRepositoryShards } from "../shards/find-repository-shards.ts";
import { readByShard } from "../shards/read-by-shard.ts";

/** An issue of another database for which one waits. */
interface FarBlocker {
  readonly blockerId: number;
  readonly blockerRepoId: number;
}

/** Selects the issues of other databases for which an issue waits. */
export const selectFarBlockers = prepare((db, { issueId }: Params<{ issueId: number }>) =>
  db
    .select({
      blockerId: crossShardDependencies.blockerId,
      blockerRepoId: crossShardDependencies.blockerRepoId,
    })
    .from(crossShardDependencies)
    .where(
      and(eq(crossShardDependencies.issueId, issueId), eq(crossShardDependencies.isChecked, true)),
    ),
);

/**
 * Lists those of some issues of other databases that keep others open. What is deleted, or belongs to a deleted repository, does not.
 *
 * Cost: none without any; else a round trip of the first database and one of each other one.
 */
export async function listOpenBlockers(
  ctx: Ctx,
  blockers: readonly FarBlocker[],
): Promise<ReadonlySet<number>> {
  const shards = await findRepositoryShards(
    ctx,
    blockers.map(({ blockerRepoId }) => blockerRepoId),
  );
  const shardOf = ({ blockerRepoId }: FarBlocker) => shards.get(blockerRepoId);
  const open = await readByShard(ctx, blockers, shardOf, selectOpen);
  return new Set(open.map(({ id }) => id));
}

function selectOpen(db: Ctx["db"], some: readonly FarBlocker[]) {
  const ids = JSON.stringify(some.map(({ blockerId }) => blockerId));
  return db
    .select({ id: issues.id })
    .from(issues)
    .innerJoin(repositories, eq(repositories.id, issues.repoId))
    .where(
      and(
        inArray(issues.id, sql`(select value from json_each(${ids}))`),
        eq(issues.isClosed, false),
      ),
    );
}

/**
 * The condition that an issue or pull request must wait for others.
 *
 * @param closedElsewhere Selects the ids of issues of other databases that were found closed. Any other one counts as open, since it
 * can't be seen. Undefined if there are no other databases.
 */
export function mustWait(issueId: SQL, closedElsewhere: SQL | undefined): SQL {
  const near = hasOpenBlockers(issueId);
  if (!closedElsewhere) return near;
  return sql`(${near} or exists (
    select 1
    from ${crossShardDependencies}
    where ${crossShardDependencies.issueId} = ${issueId} and ${crossShardDependencies.isChecked}
      and ${crossShardDependencies.blockerId} not in ${closedElsewhere}
  ))`;
}

/**
 * Writes what an issue's open blockers may refuse. If they do, it is read which ones of other databases are closed, and written again with
 * these. So a blocker that closes before counts at once; one that is reopened between the reading and the writing does not.
 *
 * Cost: that of `write`, but where it is refused with shards.
 *
 * @param write Refuses with a failure `precondition` while the issue must wait.
 */
export async function whenBlockersAllow<T>(
  ctx: Ctx,
  issueId: number,
  write: (closedElsewhere: readonly number[]) => Promise<T>,
): Promise<T> {
  try {
    return await write([]);
  } catch (error) {
    const isRefused = error instanceof Failure && error.kind === "precondition";
    if (!isRefused || ctx.openShards().size === 0) throw error;
    const blockers = await selectFarBlockers(ctx.db, { issueId });
    const open = await listOpenBlockers(ctx, blockers);
    const closed = blockers.map(({ blockerId }) => blockerId).filter((id) => !open.has(id));
    if (closed.length === 0) throw error;
    return write(closed);
  }
}
