import { eq, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { columnsOf, isViolation } from "../../db/db.ts";
import {
  repositories,
  type Repository,
  type RepositoryMove,
  repositoryMoves,
  shards,
  users,
} from "../../db/schema/index.ts";
import { listed } from "../../db/moves/move-sql.ts";
import { conflict, invalidField, notFound } from "../../lib/failure.ts";
import { only } from "../../lib/only.ts";
import { recordAudit } from "../audit/record-audit.ts";
import { isNamed } from "../repos/find-repository.ts";
import { inDirectory } from "../shards/in-directory.ts";
import { areBlockingIn, hasOutsideReferences, OUTSIDE } from "./freeze.ts";

/**
 * Starts to move a repository to a shard, with all of its network of forks. For administrators, who see every repository.
 *
 * @param target The number of the shard.
 * @throws Failure `not_found` if there is no repository of the name; `invalid` for a shard that is not ready; `conflict` for one with a lower
 * number, while the network moves, and where its issues refer to those of others.
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
  const members = await db
    .select({ id: repositories.id })
    .from(repositories)
    .where(eq(repositories.networkName, repo.networkName));
  const [source, ids] = [ctx.openShard(repo.shard), listed(members.map(({ id }) => id))];
  if (
    (await hasOutsideReferences(source, ids)) ||
    (await areBlockingIn(ctx.openShard(target), ids))
  ) {
    throw conflict(OUTSIDE);
  }
  try {
    const [rows] = await db.batch([
      db
        .insert(repositoryMoves)
        .values({
          networkName: repo.networkName,
          repoId: repo.id,
          repoName: `${ownerName}/${repo.name}`,
          source: repo.shard,
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
    if (!isViolation(error, "UNIQUE", "repository_moves.network_name")) throw error;
    throw conflict("the repository or one of its network moves already, or has moved within a day");
  }
}

function refuseTarget({ shard: source, networkName }: Repository, target: number): void {
  if (target === source) throw conflict("the repository is in this shard");
  // A new row's id is greater than all of its table: after rows of a database with a greater number, ids would be given twice.
  if (target < source) {
    throw conflict(
      "a repository moves to shards with a greater number only, since rows keep their ids",
    );
  }
  if (networkName === "") throw conflict("the repository has no storage yet");
}
