import { sql, type SQL } from "drizzle-orm";

import { toCallerSql } from "../../../auth/caller-sql.ts";
import { type Principal, principalOf } from "../../../auth/principal.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { qualified } from "../../../db/db.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { issues, repositories } from "../../../db/schema/index.ts";
import { malformed } from "../../../lib/failure.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";
import { selectRepositories, toRepositoriesById } from "../../repos/repository/find-repository.ts";
import type { Listed, Slice } from "../../slice.ts";
import { selectIssues, toIssueContexts } from "../issue/find-issue.ts";
import { type SearchFilter, bindSearchFilter } from "./bound-filter.ts";
import type { IssueFilter, IssueSort } from "./issue-query.ts";
import { orderOf, termsOf } from "./orders.ts";
import { ownerIdOf, type SearchScope, teamIdOf } from "./search-scope.ts";
import { FOUND_MAX, searchStatements } from "./search-statements.ts";

/** A search over all repositories that the caller sees. Names of its scope are in any case. */
interface IssueSearch {
  /** Undefined if nothing can match. */
  readonly filter: IssueFilter | undefined;
  readonly scope: SearchScope;
  /** A repository whose issues come first. */
  readonly priorityRepoId: number | undefined;
}

/**
 * Searches the issues and pull requests that the caller may see.
 *
 * Rows read do not grow with the number of repositories: a search for a user, for words, or in some
 * repositories reads their index; any other one reads a bounded number of the newest issues, and
 * the newest of each repository that was granted to the caller.
 *
 * SECURITY: conditions on the caller's access are part of each statement that finds or counts.
 * Labels and milestones that the caller can't see count as unknown.
 *
 * @throws Failure `malformed` for an owner or a team that does not exist.
 */
export async function searchIssues(
  ctx: Ctx,
  search: IssueSearch,
  slice: Slice,
): Promise<Listed<IssueContext>> {
  const { actor } = ctx;
  const { priorityRepoId } = search;
  const sort = search.filter?.sort ?? "newest";
  const filter = search.filter && bindSearchFilter(search.filter);
  const [owner, team] = [search.scope.owner?.toLowerCase(), search.scope.team?.toLowerCase()];
  const args = {
    filter,
    scope: { owner, team },
    priorityRepoId,
    principal: principalOf(actor),
    bounds: pageBoundsOf(sort, slice),
  };
  const {
    rows,
    repos,
    counted: [counted],
  } = await batch(ctx.db, foundIssues(ctx.db, args, { sort }));
  if (owner !== undefined && !counted?.ownerId) {
    throw malformed("user does not exist");
  }
  if (team !== undefined && !counted?.teamId) {
    throw malformed("team does not exist");
  }
  return {
    items: toIssueContexts(toRepositoriesById(actor, repos), rows),
    total: counted?.total ?? 0,
  };
}

/** The arguments of the statements of a search. */
interface SearchArguments {
  /** Undefined if nothing can match. */
  readonly filter: SearchFilter | undefined;
  readonly scope: SearchScope;
  readonly priorityRepoId: number | undefined;
  readonly principal: Principal;
  readonly bounds: PageBounds;
}

/** The page of a search, and how many issues are found and counted for it. */
interface PageBounds extends Slice {
  readonly found: number;
  readonly foundByWords: number;
  readonly countedMax: number;
}

function pageBoundsOf(sort: IssueSort, { size, offset }: Slice): PageBounds {
  const { isByAge } = orderOf(sort);
  const found = isByAge ? offset + size : FOUND_MAX;
  return {
    size,
    offset,
    found,
    foundByWords: Math.min(found, FOUND_MAX),
    countedMax: FOUND_MAX + (isByAge ? offset + size : 0),
  };
}

/** The statements of a search. */
const foundIssues = prepareAll(
  (db, args: Params<SearchArguments>, { sort }: { sort: IssueSort }) => {
    const { principal, filter, scope, priorityRepoId, bounds } = args;
    const order = orderOf(sort);
    // Over several repositories, the age is the order of ids.
    const terms = order.isByAge ? termsOf(order).slice(1) : termsOf(order);
    if (priorityRepoId !== undefined) {
      terms.unshift(sql`(${issues.repoId} = ${priorityRepoId}) desc`);
    }
    const options = { scope, priorityRepoId, isOldest: sort === "oldest" };
    const statements = filter && searchStatements(principal, { ...options, filter });
    const found = statements?.find({ all: bounds.found, byWords: bounds.foundByWords });
    const ids: SQL = found
      ? sql`
        select ${issues.id} from ${issues}
        where ${issues.id} in (${found})
        order by ${sql.join(terms, sql`, `)}
        limit ${bounds.size} offset ${bounds.offset}`
      : sql`select ${issues.id} from ${issues} where 0`;
    const total = statements?.count({ all: bounds.countedMax, byWords: sql`${FOUND_MAX}` });
    const { owner, team } = scope;
    const column = <T>(value: SQL | undefined, name: string) =>
      qualified<T>(value ?? sql`null`).as(name);
    return {
      rows: selectIssues(db)
        .where(sql`${issues.id} in (${ids})`)
        .orderBy(...terms),
      repos: selectRepositories(db, toCallerSql(principal)).where(
        sql`${repositories.id} in (
        select ${issues.repoId} from ${issues} where ${issues.id} in (${ids})
      )`,
      ),
      counted: db
        .select({
          total: column<number | null>(total, "total"),
          ownerId: column<number | null>(
            owner === undefined ? undefined : ownerIdOf(principal, owner),
            "owner_id",
          ),
          teamId: column<number | null>(
            owner === undefined || team === undefined
              ? undefined
              : teamIdOf(principal, owner, team),
            "team_id",
          ),
        })
        .from(sql`(select 1)`),
    };
  },
);
