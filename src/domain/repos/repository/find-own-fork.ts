import { and, eq } from "drizzle-orm";

import { callerArgument, type CallerArgument, toCallerSql } from "../../../auth/caller-sql.ts";
import type { Ctx } from "../../../context.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { repositories, type User } from "../../../db/schema/index.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { selectRepositories, toRepositoryContext } from "./find-repository.ts";

/**
 * Finds the fork of a repository that a user owns, of which there is one at most.
 *
 * Cost: one round trip.
 *
 * @param user The caller.
 */
export async function findOwnFork(
  ctx: Ctx,
  { row }: RepositoryContext,
  user: User,
): Promise<RepositoryContext | undefined> {
  const caller = callerArgument(ctx.actor);
  const [found] = await forkOf(ctx.db, { caller, parentId: row.id, ownerId: user.id });
  return found && toRepositoryContext(ctx.actor, found);
}

interface ForkOf {
  readonly caller: CallerArgument;
  readonly parentId: number;
  readonly ownerId: number;
}

const forkOf = prepare((db, { caller, parentId, ownerId }: Params<ForkOf>) =>
  selectRepositories(db, toCallerSql(caller)).where(
    and(eq(repositories.parentId, parentId), eq(repositories.ownerId, ownerId)),
  ),
);
