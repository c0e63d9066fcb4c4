import { and, asc, eq, sql, type SQL } from "drizzle-orm";

import {
  reachableRepositoryIds,
  teamRepositoryIds,
} from "../../../auth/access/granted-repositories.ts";
import { isAllowed } from "../../../auth/access/permission.ts";
import { TO_SEE } from "../../../auth/access/requirement.ts";
import { isRepositoryVisible } from "../../../auth/access/visible-repositories.ts";
import { idOfTeam } from "../../../auth/access/teams.ts";
import { callerArgument, type CallerArgument, toCallerSql } from "../../../auth/caller-sql.ts";
import { type Principal, principalOf } from "../../../auth/principal.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { allOf, type Database } from "../../../db/db.ts";
import { selectTotal } from "../../../db/select-total.ts";
import { type Params, prepare, prepareAll } from "../../../db/prepared.ts";
import { repositories, type User } from "../../../db/schema/index.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { TeamName } from "../../people/accounts/list-accounts.ts";
import { type Listed, type CountedPage, type Slice, toListedPage } from "../../slice.ts";
import {
  isNamed,
  type RepositoryRow,
  selectRepositories,
  toRepositoryContext,
} from "./find-repository.ts";

/** Lists the repositories of an account that the caller may see, oldest first. */
export const listRepositoriesOf = async (
  ctx: Ctx,
  { id }: User,
  slice: Slice,
): Promise<Listed<RepositoryContext>> =>
  toRepositoryList(
    ctx,
    await batch(ctx.db, listOfOwner(ctx.db, { ...toRepositoryPage(ctx, slice), id })),
  );

const listOfOwner = prepareAll((db, { id, ...page }: Params<RepositoryPage & { id: number }>) =>
  selectListed(db, page, eq(repositories.ownerId, id), [asc(repositories.id)]),
);

/**
 * Lists the repositories that a user owns, collaborates on or reaches by a team, by owner and name.
 */
export const listReachableRepositories = async (
  ctx: Ctx,
  { id }: User,
  slice: Slice,
): Promise<Listed<RepositoryContext>> =>
  toRepositoryList(
    ctx,
    await batch(ctx.db, listReachable(ctx.db, { ...toRepositoryPage(ctx, slice), id })),
  );

const listReachable = prepareAll((db, { id, ...page }: Params<RepositoryPage & { id: number }>) => {
  const isReachable = sql`${repositories.id} in (${reachableRepositoryIds(id)})`;
  const order = [asc(repositories.ownerLowerName), asc(repositories.lowerName)];
  return selectListed(db, page, isReachable, order);
});

/** Lists the repositories that a team reaches and the caller may see, by name. */
export const listTeamRepositories = async (
  ctx: Ctx,
  id: number,
  slice: Slice,
): Promise<Listed<RepositoryContext>> =>
  toRepositoryList(
    ctx,
    await batch(ctx.db, listOfTeam(ctx.db, { ...toRepositoryPage(ctx, slice), id })),
  );

const listOfTeam = prepareAll((db, { id, ...page }: Params<RepositoryPage & { id: number }>) => {
  const isReached = sql`${repositories.id} in (${teamRepositoryIds(id)})`;
  return selectListed(db, page, isReached, [asc(repositories.lowerName)]);
});

/** Lists the same of a team by its name, for a request that did not look it up yet. */
export const listNamedTeamRepositories = async (
  ctx: Ctx,
  { orgId, name }: TeamName,
  slice: Slice,
): Promise<Listed<RepositoryContext>> => {
  const args = { ...toRepositoryPage(ctx, slice), orgId, name: name.toLowerCase() };
  return toRepositoryList(ctx, await batch(ctx.db, listOfNamedTeam(ctx.db, args)));
};

const listOfNamedTeam = prepareAll(
  (db, { orgId, name, ...page }: Params<RepositoryPage & TeamName>) => {
    const isReached = sql`${repositories.id} in (${teamRepositoryIds(idOfTeam(orgId, name))})`;
    return selectListed(db, page, isReached, [asc(repositories.lowerName)]);
  },
);

/**
 * Finds a repository by its names among those that a team reaches and the caller may see; undefined
 * for none.
 */
export async function findTeamRepository(
  ctx: Ctx,
  teamId: number,
  { owner, name }: { owner: string; name: string },
): Promise<RepositoryContext | undefined> {
  const [row] = await oneOfTeam(ctx.db, {
    caller: callerArgument(ctx.actor),
    teamId,
    owner: owner.toLowerCase(),
    name: name.toLowerCase(),
  });
  const repo = row && toRepositoryContext(ctx.actor, row);
  return repo && isAllowed(repo, TO_SEE) ? repo : undefined;
}

const oneOfTeam = prepare(
  (db, p: Params<{ caller: CallerArgument; teamId: number; owner: string; name: string }>) => {
    const isReached = sql`${repositories.id} in (${teamRepositoryIds(p.teamId)})`;
    return selectRepositories(db, toCallerSql(p.caller)).where(
      and(isNamed(p.owner, p.name), isReached),
    );
  },
);

/** The caller and the part of a list of repositories, as arguments of its queries. */
export interface RepositoryPage extends Slice {
  readonly principal: Principal;
}

export const toRepositoryPage = ({ actor }: Ctx, { size, offset }: Slice): RepositoryPage => ({
  principal: principalOf(actor),
  size,
  offset,
});

/**
 * Selects a page of the repositories that match a condition and that the caller may see, and their
 * exact total.
 */
export function selectListed(
  db: Database,
  { principal, size, offset }: Params<RepositoryPage>,
  isMatch: SQL,
  order: SQL[],
) {
  const isListed = allOf(isMatch, isRepositoryVisible(principal));
  const ids = db
    .select({ id: repositories.id })
    .from(repositories)
    .where(isListed)
    .orderBy(...order)
    .limit(size)
    .offset(offset);
  return {
    rows: selectRepositories(db, toCallerSql(principal))
      .where(sql`${repositories.id} in ${ids}`)
      .orderBy(...order),
    counted: selectTotal(db, sql`(select count(*) from ${repositories} where ${isListed})`),
  };
}

/** The list of the rows of `selectListed`. */
export const toRepositoryList = (
  { actor }: Ctx,
  page: CountedPage<RepositoryRow>,
): Listed<RepositoryContext> => toListedPage(page, (row) => toRepositoryContext(actor, row));
