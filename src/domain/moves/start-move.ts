import { eq, type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { columnsOf, flagColumn, isViolation, onlyWhile } from "../../db/db.ts";
import {
  repositories,
  type Repository,
  type RepositoryMove,
  repositoryMoves,
  shards,
  users,
} from "../../db/schema/index.ts";
import { conflict, invalidField, notFound } from "../../lib/failure.ts";
import { only } from "../../lib/only.ts";
import { recordAudit } from "../audit/record-audit.ts";
import { isNamed } from "../repos/find-repository.ts";
import { isRangeLeft, NO_RANGE_LEFT } from "../shards/id-ranges.ts";
import { inDirectory } from "../shards/in-directory.ts";

/**
 * Starts to move a repository to a shard, with all of its network of forks. For administrators, who see every repository.
 *
 * @param target The number of the shard.
 * @throws Failure `not_found` if there is no repository of the name; `invalid` for a shard that is not ready; `conflict` while the network moves,
 * where another repository moves the other way, and where no range of ids is left.
 */
export async function startMove(
  callerCtx: Ctx,
  { owner, name, target }: { owner: string; name: string; target: number },
): Promise<RepositoryMove> {
  const ctx = inDirectory(callerCtx);
  const { directory: db, now } = ctx;
  const [[found], [shard]] = await db.batch([
    db
      .select({
        repo: columnsOf(repositories, "r"),
        ownerName: sql<string>`${users.name}`.as("owner_name"),
      })
      .from(repositories)
      .innerJoin(users, eq(users.id, repositories.ownerId))
      .where(isNamed(owner, name)),
    db.select().from(shards).where(eq(shards.id, target)),
  ]);
  if (!found) throw notFound();
  if (!shard || shard.seededAt === null || !ctx.openShards().has(target)) {
    throw invalidField("shard", "must be the number of a shard that is ready");
  }
  const { repo, ownerName } = found;
  refuseTarget(repo, target);
  const [range] = await db
    .select({ isLeft: flagColumn(isRangeLeft(target, repo.shard), "is_left") })
    .from(shards)
    .where(eq(shards.id, target));
  if (range?.isLeft !== true) throw conflict(NO_RANGE_LEFT);
  try {
    const [rows] = await db.batch([
      db
        .insert(repositoryMoves)
        .values({
          networkName: repo.networkName,
          repoId: repo.id,
          repoName: `${ownerName}/${repo.name}`,
          source: onlyWhile(isOneWay(repo.shard, target), repo.shard),
          target,
          dueAt: now,
          createdAt: now,
        })
        .returning(),
      recordAudit(ctx, {
        kind: "repository.move_started",
        ownerId: repo.ownerId,
        repoId: repo.id,
        target: String(target),
        details: { source: repo.shard, target },
      }),
    ]);
    ctx.eventQueues.noteMoves();
    return only(rows);
  } catch (error) {
    if (isViolation(error, "NOT NULL", "repository_moves.source")) throw conflict(OTHER_WAY);
    if (!isViolation(error, "UNIQUE", "repository_moves.network_name")) throw error;
    throw conflict("the repository or one of its network moves already, or has moved within a day");
  }
}

const OTHER_WAY = "another repository moves from this shard to the present one: wait for its end";

/**
 * Whether no repository is being copied from the target to the source, directly or from shard to shard. Each database needs ids above
 * those of all from which rows come: in a circle they would take one range after the other.
 */
const isOneWay = (source: number, target: number): SQL => sql`${source} not in (
  with recursive reached (shard) as (
    select ${target}
    union
    select m.target
    from reached join repository_moves m on m.source = reached.shard
    where m.state in ('copying', 'following', 'frozen')
  )
  select shard from reached
)`;

function refuseTarget({ shard: source, networkName }: Repository, target: number): void {
  if (target === source) throw conflict("the repository is in this shard");
  if (networkName === "") throw conflict("the repository has no storage yet");
}
