import { type Column, sql, type SQL } from "drizzle-orm";

import { isAccountVisible } from "../../../auth/access/accounts.ts";
import {
  grantedRepositoryIds,
  teamRepositoryIds,
} from "../../../auth/access/granted-repositories.ts";
import { teamIdSeenBy } from "../../../auth/access/teams.ts";
import { isUnitOnSql } from "../../../auth/access/unit-switches.ts";
import {
  isRepositoryAllowed,
  visibilitiesWithoutGrant,
} from "../../../auth/access/visible-repositories.ts";
import type { PrincipalSql } from "../../../auth/principal.ts";
import { allOf } from "../../../db/db.ts";
import { derivedTable } from "../../../db/derived-table.ts";
import type { Params } from "../../../db/prepared.ts";
import { accessTokenRepositories, issues, repositories, users } from "../../../db/schema/index.ts";
import { unitOf } from "../issue/find-issue.ts";
import type { IssueFilter } from "./issue-query.ts";

// The repositories of a search over several ones. Each statement begins with those that the caller
// may see.

/** The names, in lower case, that narrow a search to some repositories. */
export interface SearchScope {
  readonly owner: string | undefined;
  /** A team of the owner. */
  readonly team: string | undefined;
}
type ScopeParams = Params<SearchScope>;

/** Maximum repositories that a search reads one by one: those that changed last. */
const REPOSITORIES_MAX = 1000;

/** Selects the id of the owner, if the caller may see the account. */
export const ownerIdOf = (principal: PrincipalSql, name: SQL): SQL => sql`(
  select ${users.id} from ${users}
  where ${users.lowerName} = ${name} and ${isAccountVisible(principal)}
)`;

/** Selects the id of the team, if the caller knows of it. */
export const teamIdOf = (principal: PrincipalSql, owner: SQL, team: SQL): SQL =>
  teamIdSeenBy(principal, ownerIdOf(principal, owner), team);

/** Selects the ids of the repositories that narrow a search; undefined for a search of all. */
function scopeIds(principal: PrincipalSql, { owner, team }: ScopeParams): SQL | undefined {
  if (owner !== undefined && team !== undefined) {
    return sql`select repo_id as id from (${teamRepositoryIds(teamIdOf(principal, owner, team))})`;
  }
  if (owner !== undefined) {
    return sql`
      select ${repositories.id}
      from ${repositories}
      where ${repositories.ownerId} = ${ownerIdOf(principal, owner)}`;
  }
  const tokenId = principal.boundTokenId;
  if (tokenId === undefined) return undefined;
  return sql`
    select ${accessTokenRepositories.repoId} as id
    from ${accessTokenRepositories}
    where ${accessTokenRepositories.tokenId} = ${tokenId}`;
}

/** Selects the ids of repositories whose issues a bounded search of all ones might miss. */
const grantedIds = (principal: PrincipalSql): SQL | undefined =>
  principal.userId !== undefined && !principal.isSiteAdmin
    ? grantedRepositoryIds(principal)
    : undefined;

/** Whether a caller sees any repository without a grant. */
export const seesSome = (principal: PrincipalSql): boolean =>
  visibilitiesWithoutGrant(principal).length > 0;

/**
 * The condition, on the `repositories` rows of a query, that the caller sees its issues, or its
 * pull requests.
 */
function isKindVisible(principal: PrincipalSql, isPull: boolean): SQL {
  const unit = unitOf({ isPull });
  return allOf(isUnitOnSql(unit), isRepositoryAllowed(principal, { unit, mode: "read" }));
}

/** The condition, on rows of `issues` and their `repositories`, that the caller sees an issue. */
export const isIssueSeen = (
  principal: PrincipalSql,
  { isPull }: Pick<IssueFilter, "isPull">,
): SQL =>
  isPull === undefined
    ? sql`case
        when ${issues.isPull} then ${isKindVisible(principal, true)}
        else ${isKindVisible(principal, false)}
      end`
    : isKindVisible(principal, isPull);

/**
 * The common table expression of the repositories that a search looks into one by one, with their
 * counters.
 */
export const searched = derivedTable(
  "searched",
  "id",
  "ownerId",
  "updatedAt",
  "openIssueCount",
  "closedIssueCount",
  "openPullCount",
  "closedPullCount",
  "seesIssues",
  "seesPulls",
);

/**
 * The common table expression of labels, each with each of the repositories `searched` whose issues
 * may have it.
 */
export const pairs = derivedTable("pairs", "labelId", "repoId", "seesIssues", "seesPulls");

/** Whether the caller sees the issues, or the pull requests, of a row. */
export const isSeenIn = (table: typeof searched | typeof pairs, isPull: boolean): Column =>
  isPull ? table.seesPulls : table.seesIssues;

/** The counter of a repository's issues of a kind and a state. */
export function counterOfPart(isPull: boolean, isClosed: boolean): Column {
  if (isPull) return isClosed ? searched.closedPullCount : searched.openPullCount;
  return isClosed ? searched.closedIssueCount : searched.openIssueCount;
}

/** The repositories that a search looks into one by one. */
export interface SearchTargets {
  /** The definition of `searched`; undefined where there are none. */
  readonly table: SQL | undefined;
  /** Whether the search is narrowed to them. */
  readonly isScoped: boolean;
}

/** The ids of a search's scope. */
const scoped = derivedTable("scoped", "id");

/**
 * Defines `searched`: the repositories of the scope, or of the caller's grants, whose issues or
 * pull requests the caller sees.
 */
export function searchTargetsOf(principal: PrincipalSql, scope: ScopeParams): SearchTargets {
  const ofScope = scopeIds(principal, scope);
  const ids = ofScope ?? grantedIds(principal);
  if (!ids) return { table: undefined, isScoped: false };
  // Without the index of public repositories, which are many more. As a join: SQLite takes 100
  // levels of expressions, and a condition would add the levels of the subquery for a team.
  const table = sql`${searched} as materialized (
    select * from (
      select ${repositories.id}, ${repositories.ownerId}, ${repositories.updatedAt},
        ${repositories.openIssueCount}, ${repositories.closedIssueCount},
        ${repositories.openPullCount}, ${repositories.closedPullCount},
        ${isKindVisible(principal, false)} as sees_issues,
        ${isKindVisible(principal, true)} as sees_pulls
      from (select distinct id from (${ids})) ${scoped}
      cross join ${repositories} on ${repositories.id} = ${scoped.id}
    )
    where (sees_issues or sees_pulls) is true
    order by updated_at desc
    limit ${REPOSITORIES_MAX}
  )`;
  return { table, isScoped: ofScope !== undefined };
}
