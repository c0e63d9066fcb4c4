import { and, asc, count, eq, sql, type SQL } from "drizzle-orm";

import {
  reachableRepositoryIds,
  teamRepositoryIds,
} from "../../auth/access/granted-repositories.ts";
import { isAllowed } from "../../auth/access/permission.ts";
import { TO_SEE } from "../../auth/access/requirement.ts";
import { isRepositoryVisible } from "../../auth/access/visible-repositories.ts";
import { callerSql } from "../../auth/caller-sql.ts";
import type { Ctx } from "../../context.ts";
import { repositories, type User } from "../../db/schema/index.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import type { Listed, Slice } from "../slice.ts";
import { isNamed, selectRepositories, toRepositoryContext } from "./find-repository.ts";

/** Lists the repositories of an account that the caller may see, oldest first. */
export async function listRepositoriesOf(
  ctx: Ctx,
  owner: User,
  slice: Slice,
): Promise<Listed<RepositoryContext>> {
  const isListed = and(eq(repositories.ownerId, owner.id), isRepositoryVisible(ctx.actor));
  return listWhere(ctx, isListed as SQL, [asc(repositories.id)], slice);
}

/** Lists the repositories that a user owns, collaborates on or reaches by a team, by owner and name. */
export async function listReachableRepositories(
  ctx: Ctx,
  user: User,
  slice: Slice,
): Promise<Listed<RepositoryContext>> {
  const isReachable = sql`${repositories.id} in (${reachableRepositoryIds(user.id)})`;
  const isListed = and(isReachable, isRepositoryVisible(ctx.actor));
  const order = [asc(repositories.ownerLowerName), asc(repositories.lowerName)];
  return listWhere(ctx, isListed as SQL, order, slice);
}

/** Lists the repositories that a team reaches and the caller may see, by name. */
export async function listTeamRepositories(
  ctx: Ctx,
  teamId: number,
  slice: Slice,
): Promise<Listed<RepositoryContext>> {
  const isReached = sql`${repositories.id} in (${teamRepositoryIds(teamId)})`;
  const isListed = and(isReached, isRepositoryVisible(ctx.actor));
  return listWhere(ctx, isListed as SQL, [asc(repositories.lowerName)], slice);
}

/** Finds a repository by its names among those that a team reaches and the caller may see; undefined for none. */
export async function findTeamRepository(
  ctx: Ctx,
  teamId: number,
  { owner, name }: { owner: string; name: string },
): Promise<RepositoryContext | undefined> {
  const isReached = sql`${repositories.id} in (${teamRepositoryIds(teamId)})`;
  const [row] = await selectRepositories(ctx.db, callerSql(ctx.actor)).where(
    and(isNamed(owner, name), isReached),
  );
  const repo = row && toRepositoryContext(ctx.actor, row);
  return repo && isAllowed(repo, TO_SEE) ? repo : undefined;
}

/** Lists the repositories that match a condition, with an exact total. */
export async function listWhere(
  ctx: Ctx,
  isListed: SQL,
  order: SQL[],
  { size, offset }: Slice,
): Promise<Listed<RepositoryContext>> {
  const pageIds = ctx.db
    .select({ id: repositories.id })
    .from(repositories)
    .where(isListed)
    .orderBy(...order)
    .limit(size)
    .offset(offset);
  const [rows, [counted]] = await ctx.db.batch([
    selectRepositories(ctx.db, callerSql(ctx.actor))
      .where(sql`${repositories.id} in ${pageIds}`)
      .orderBy(...order),
    ctx.db
      .select({ total: count().as("total") })
      .from(repositories)
      .where(isListed),
  ]);
  return {
    items: rows.map((row) => toRepositoryContext(ctx.actor, row)),
    total: counted?.total ?? 0,
  };
}
