import { and, asc, desc, eq, sql, type SQL } from "drizzle-orm";

import {
  collaboratedRepositoryIds,
  grantedRepositoryIds,
  reachableRepositoryIds,
  teamRepositoryIds,
} from "../../../auth/access/granted-repositories.ts";
import {
  isRepositoryVisible,
  visibilitiesWithoutGrant,
} from "../../../auth/access/visible-repositories.ts";
import { toCallerSql } from "../../../auth/caller-sql.ts";
import type { PrincipalSql } from "../../../auth/principal.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { allOf, type Database } from "../../../db/db.ts";
import { selectTotal } from "../../../db/select-total.ts";
import { type Params, prepareAll, type Slot } from "../../../db/prepared.ts";
import {
  accessTokenRepositories,
  repositories,
  repositoryTotals,
  stars,
} from "../../../db/schema/index.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { Listed, Slice } from "../../slice.ts";
import { selectRepositories } from "./find-repository.ts";
import {
  type RepositoryPage,
  selectListed,
  toRepositoryList,
  toRepositoryPage,
} from "./list-repositories.ts";
import type { RepositoryQuery, RepositorySort } from "./repository-query.ts";
import { isMatch, matches, parseSearchText, type SearchText } from "./search-matches.ts";

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
 * The number of rows read does not grow with the table: a list without a search word walks an index
 * in its order; a word reads a bounded number of its newest matches; a search by owner,
 * user who reaches them, team, stargazer or bound token reads only the repositories of that one.
 */
export async function searchRepositories(
  ctx: Ctx,
  { sort, mode, ...query }: RepositoryQuery,
  slice: Slice,
): Promise<Listed<RepositoryContext>> {
  // The full-text index reads a query only up to its first NUL.
  if (query.text.includes("\0")) return { items: [], total: 0 };
  const page = toRepositoryPage(ctx, slice);
  const text = parseSearchText({ sort, mode, ...query }, page.principal);
  const args = { ...page, reach: reachOf(slice), query: { ...query, text } };
  return toRepositoryList(ctx, await batch(ctx.db, search(ctx.db, args, { sort, mode })));
}

interface SearchArguments extends RepositoryPage {
  /** How many rows of each visibility a walk reads. */
  readonly reach: number;
  readonly query: Omit<RepositoryQuery, "text" | "sort" | "mode"> & {
    readonly text: SearchText | undefined;
  };
}

/** The query in SQL: its flags and its orders decide about it, its values are bound. */
type QuerySql = Params<SearchArguments["query"]> & Pick<RepositoryQuery, "sort" | "mode">;

const search = prepareAll(
  (
    db,
    { query: given, reach, ...page }: Params<SearchArguments>,
    shape: Pick<RepositoryQuery, "sort" | "mode">,
  ) => {
    const query = { ...given, ...shape };
    const order = orderOf(query);
    const filter = and(...filters(query));
    const subset = subsetOf(page.principal, query);
    const { text } = query;
    if (subset) return selectListed(db, page, allOf(subset, text && isMatch(text), filter), order);
    if (text) {
      const isFound = sql`${repositories.id} in ${matches(page.principal, text)}`;
      return selectListed(db, page, allOf(isFound, filter), order);
    }
    return walk(db, { page, reach, query, filter, order });
  },
);

const reachOf = ({ size, offset }: Slice): number => (offset < WALK_MAX ? size + offset : 0);

const keysOf = (query: QuerySql): SQL[] =>
  SORTS[query.sort].map((column) => (query.isDescending ? desc(column) : asc(column)));

const orderOf = (query: QuerySql): SQL[] =>
  query.priorityOwnerId === undefined
    ? keysOf(query)
    : [desc(sql`${repositories.ownerId} = ${query.priorityOwnerId}`), ...keysOf(query)];

function filters(query: QuerySql): SQL[] {
  const list: SQL[] = [];
  const only = (column: SQL, value: boolean | undefined) => {
    if (value !== undefined) list.push(sql`${column} = ${value ? 1 : 0}`);
  };
  only(sql`${repositories.isPrivate}`, query.isPrivate);
  only(sql`${repositories.isTemplate}`, query.isTemplate);
  only(sql`(${repositories.archivedAt} is not null)`, query.isArchived);
  if (query.language !== undefined) list.push(sql`${repositories.language} = ${query.language}`);
  if (query.mode === "fork") list.push(sql`${repositories.isFork} = 1`);
  if (query.mode === "mirror") list.push(sql`${repositories.isMirror} = 1`);
  if (query.mode === "source")
    list.push(sql`(not ${repositories.isFork} and not ${repositories.isMirror})`);
  return list;
}

/**
 * A condition that bounds the number of rows independently of the table's size; undefined if the
 * query has none.
 */
function subsetOf(principal: PrincipalSql, query: QuerySql): SQL | undefined {
  const subsets: (SQL | undefined)[] = [];
  const { ownerId, reachedById, teamId, starredById } = query;
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
  if (reachedById !== undefined) {
    subsets.push(sql`${repositories.id} in (${reachableRepositoryIds(reachedById)})`);
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
  const tokenId = principal.boundTokenId;
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
 * Lists repositories without a search word: walks the index of each visibility that the caller sees
 * without a grant, as far as the page reaches, and merges the result with the repositories granted
 * to the caller.
 */
function walk(
  db: Database,
  { page, reach, query, filter, order }: Walk,
): ReturnType<typeof selectListed> {
  const { principal, size, offset } = page;
  const visibilities = visibilitiesWithoutGrant(principal);
  const isVisible = isRepositoryVisible(principal);
  const isVisibleToAll = sql`${repositories.visibility} in (
    select value from json_each(${JSON.stringify(visibilities)})
  )`;
  const isBeyond = sql`not ${isVisibleToAll}`;
  const granted = grantedRepositoryIds(principal);
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
  return {
    rows: selectRepositories(db, toCallerSql(principal))
      .where(sql`${repositories.id} in ${pageIds}`)
      .orderBy(...order),
    counted: selectTotal(db, sql`${visibleTotal} + ${grantedTotal}`),
  };
}

interface Walk {
  readonly page: Params<RepositoryPage>;
  readonly reach: Slot<number>;
  readonly query: QuerySql;
  readonly filter: SQL | undefined;
  readonly order: SQL[];
}

const list = (order: SQL[]): SQL => sql.join(order, sql`, `);
