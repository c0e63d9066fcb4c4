import { type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import { deleteLostAssignments } from "../../auth/access/lost-assignments.ts";
import type { Ctx } from "../../context.ts";
import { allOf } from "../../db/db.ts";
import { type Repository, users } from "../../db/schema/index.ts";
import { addShardTasks, isShardOf, isShardOfOwner } from "./add-shard-tasks.ts";
import { ownStatements } from "./own-statements.ts";

/** The users who may have lost access, and the repositories that it concerns. */
interface LosingUsers {
  /** A list of ids, in parentheses. */
  userIds: SQL;
  /** The only repository; all of the owner's, if missing. */
  repo?: Pick<Repository, "id" | "shard">;
  ownerId: number;
  /** A team that is about to be deleted, whose grants count no more. */
  exceptTeamId?: number;
  /** The condition that they have lost it, where the statements before may have been refused. */
  isLost?: SQL;
}

/**
 * Takes issues and pull requests of an owner's repositories from assignees who may not read them any more: those in the first database in
 * the batch itself, those in shards by tasks.
 *
 * Follows the statements that take the access away, in their batch.
 */
export function loseAssignments(
  ctx: Ctx,
  { repo, isLost = sql`1`, ...lost }: LosingUsers,
): readonly BatchItem<"sqlite">[] {
  const { ownerId, userIds } = lost;
  const repoId = repo?.id;
  const fromLosing = sql`from ${users} where ${users.id} in ${userIds} and ${isLost}`;
  const task = {
    kind: "lost_assignments",
    ownerId,
    repoId: repoId ?? null,
    userIds: sql`json((select json_group_array(${users.id}) ${fromLosing}))`,
  } as const;
  const isConcerned = allOf(
    repo ? isShardOf(repo) : isShardOfOwner(ownerId),
    sql`exists (select 1 ${fromLosing})`,
  );
  return [
    ...ownStatements(ctx, repo, (own) => [
      deleteLostAssignments(own, { ...lost, ...(repoId !== undefined && { repoId }) }),
    ]),
    ...addShardTasks(ctx, task, isConcerned),
  ];
}
