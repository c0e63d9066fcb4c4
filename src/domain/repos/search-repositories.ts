import { and, asc, desc, eq, sql, type SQL } from "drizzle-orm";

import { boundTokenId } from "../../auth/actor.ts";
import { callerSql } from "../../auth/caller-sql.ts";
import {
  collaboratedRepositoryIds,
  grantedRepositoryIds,
  teamRepositoryIds,
} from "../../auth/access/granted-repositories.ts";
import {
  isRepositoryVisible,
  visibilitiesWithoutGrant,
} from "../../auth/access/visible-repositories.ts";
import type { Ctx } from "../../context.ts";
import { allOf } from "../../db/db.ts";
import {
  accessTokenRepositories,
  repositories,
  repositoryTotals,
  stars,
} from "../../db/schema/index.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import type { Listed, Slice } from "../slice.ts";
import { selectRepositories, toRepositoryContext } from "./find-repository.ts";
import { listWhere } from "./list-repositories.ts";
import type { RepositoryQuery, RepositorySort } from "./repository-query.ts";
import { isMatch, matches } from "./search-matches.ts";

/** The sort orders of a search, each served by an index that starts with the visibility. */
export const SORTS = {
  alpha: [repositories.ownerLowerName, repositories.lowerName],
  // Ids are assigned in the order of creation.
  id: [repositories.createdAt, repositories.id],
  created: [repositories.createdAt, repositories.id],
  updated: [repositories.updatedAt, repositories.id],
  size: [sql`(${repositories.sizeBytes} + ${repositories.lfsSizeBytes})`, repositories.id],
  git_size: [repositories.sizeBytes, repositories.id],
  lfs_size: [repositories.lfsSizeBytes, repositories.id],
  stars: [repositories.starCount, repositories.id],
  forks: [repositories.forkCount, repositories.id],
} as const satisfies Record<RepositorySort, readonly unknown[]>;

/** Maximum total that is counted where no counter is stored. */
const TOTAL_MAX = 10_000;
/** Maximum depth of paging in a list without a search word: a page reads all rows before it. */
const WALK_MAX = 1_000_000;

/**
 * Searches the repositories that the caller may see.
 *
 * The number of rows read does not grow with the table: a list without a search word walks an index in its
 * order; a word reads a bounded number of its newest matches; a search by owner, team, stargazer or bound
 * token reads only the repositories of that owner, team, stargazer or token.
 */
export async function searchRepositories(
  ctx: Ctx,
  query: RepositoryQuery,
  slice: Slice,
): Promise<Listed<RepositoryContext>> {
  // The full-text index reads a query only up to its first NUL.
  if (query.text.includes("\0")) return { items: [], total: 0 };
  const order = orderOf(query);
  const filter = and(...filters(query));
  const isVisible = isRepositoryVisible(ctx.actor);
  const subset = subsetOf(ctx, query);
  if (subset) {
    return listWhere(ctx, allOf(subset, isMatch(query), filter, isVisible), order, slice);
  }
  if (query.text !== "") {
    const isFound = sql`${repositories.id} in ${matches(ctx, query)}`;
    return listWhere(ctx, allOf(isFound, filter, isVisible), order, slice);
  }
  return walk(ctx, query, filter, order, slice);
}

const keysOf = (query: RepositoryQuery): SQL[] =>
  SORTS[query.sort].map((column) => (query.isDescending ? desc(column) : asc(column)));

const orderOf = (query: RepositoryQuery): SQL[] =>
  query.priorityOwnerId === undefined
    ? keysOf(query)
    : [desc(sql`${repositories.ownerId} = ${query.priorityOwnerId}`), ...keysOf(query)];

function filters(query: RepositoryQuery): SQL[] {
  const list: SQL[] = [];
  const only = (column: SQL, wanted: boolean | undefined) => {
    if (wanted !== undefined) list.push(sql`${column} = ${wanted ? 1 : 0}`);
  };
  only(sql`${repositories.isPrivate}`, query.isPrivate);
  only(sql`${repositories.isTemplate}`, query.isTemplate);
  only(sql`(${repositories.archivedAt} is not null)`, query.isArchived);
  if (query.mode === "fork") list.push(sql`${repositories.isFork} = 1`);
  if (query.mode === "mirror") list.push(sql`${repositories.isMirror} = 1`);
  if (query.mode === "source")
    list.push(sql`(not ${repositories.isFork} and not ${repositories.isMirror})`);
  return list;
}

/**
 * A condition that bounds the number of rows independently of the table's size; undefined if the query has
 * none.
 */
function subsetOf(ctx: Ctx, query: RepositoryQuery): SQL | undefined {
  const subsets: (SQL | undefined)[] = [];
  const { ownerId, teamId, starredById } = query;
  if (ownerId !== undefined) {
    const collaborated = collaboratedRepositoryIds(ownerId);
    const owned = sql`select id from ${repositories} where owner_id = ${ownerId}`;
    const ids =
      query.mode === "collaborative"
        ? collaborated
        : query.isExclusive
          ? owned
          : sql`${owned} union ${collaborated}`;
    subsets.push(sql`${repositories.id} in (${ids})`);
  }
  if (teamId !== undefined) {
    subsets.push(sql`${repositories.id} in (${teamRepositoryIds(teamId)})`);
  }
  if (starredById !== undefined) {
    subsets.push(
      sql`${repositories.id} in (
        select ${stars.repoId} from ${stars} where ${stars.userId} = ${starredById}
      )`,
    );
  }
  const tokenId = boundTokenId(ctx.actor);
  if (tokenId !== undefined) {
    subsets.push(
      sql`${repositories.id} in (
        select ${accessTokenRepositories.repoId}
        from ${accessTokenRepositories}
        where ${accessTokenRepositories.tokenId} = ${tokenId}
      )`,
    );
  }
  return and(...subsets);
}

/**
 * Lists repositories without a search word: walks the index of each visibility that the caller sees without a
 * grant, as far as the page reaches, and merges the result with the repositories granted to the caller.
 */
async function walk(
  ctx: Ctx,
  query: RepositoryQuery,
  filter: SQL | undefined,
  order: SQL[],
  { size, offset }: Slice,
): Promise<Listed<RepositoryContext>> {
  const visibilities = visibilitiesWithoutGrant(ctx.actor);
  const isVisible = isRepositoryVisible(ctx.actor);
  const reach = offset < WALK_MAX ? size + offset : 0;
  const isVisibleToAll = sql`${repositories.visibility} in (
    select value from json_each(${JSON.stringify(visibilities)})
  )`;
  const isBeyond = sql`not ${isVisibleToAll}`;
  const granted = grantedRepositoryIds(ctx.actor);
  const isGranted = and(sql`${repositories.id} in (${granted})`, isBeyond, filter, isVisible);
  const walks = visibilities.map(
    (visibility) => sql`
      select id
      from (
        select id
        from ${repositories}
        where ${and(eq(repositories.visibility, visibility), filter)}
        order by ${list(keysOf(query))}
        limit ${reach}
      )`,
  );
  // Repositories that sort before the index order are looked up separately.
  const isFirst = sql`${repositories.ownerId} = ${query.priorityOwnerId ?? null}`;
  const besides = [isGranted, and(isFirst, filter, isVisible)].map(
    (condition) => sql`select id from ${repositories} where ${condition}`,
  );
  const ids = sql.join([...walks, ...besides], sql` union all `);
  const pageIds = sql`(
    select ${repositories.id}
    from ${repositories}
    where ${repositories.id} in (${ids})
    order by ${list(order)}
    limit ${size} offset ${offset}
  )`;

  const visibleTotal =
    filter === undefined
      ? sql`(
        select coalesce(sum(count), 0)
        from ${repositoryTotals}
        where ${repositoryTotals.visibility} in (
          select value from json_each(${JSON.stringify(visibilities)})
        )
      )`
      : sql`(
        select count(*)
        from (select 1 from ${repositories} where ${and(isVisibleToAll, filter)} limit ${TOTAL_MAX})
      )`;
  const grantedTotal = sql`(select count(*) from ${repositories} where ${isGranted})`;
  const [rows, [counted]] = await ctx.db.batch([
    selectRepositories(ctx.db, callerSql(ctx.actor))
      .where(sql`${repositories.id} in ${pageIds}`)
      .orderBy(...order),
    ctx.db
      .select({ total: sql<number>`${visibleTotal} + ${grantedTotal}`.as("total") })
      .from(sql`(select 1)`),
  ]);
  return {
    items: rows.map((row) => toRepositoryContext(ctx.actor, row)),
    total: counted?.total ?? 0,
  };
}

const list = (order: SQL[]): SQL => sql.join(order, sql`, `);
