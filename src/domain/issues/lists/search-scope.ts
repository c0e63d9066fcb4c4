import { sql, type SQL } from "drizzle-orm";

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
import type { Params } from "../../../db/prepared.ts";
import { accessTokenRepositories, issues, repositories, users } from "../../../db/schema/index.ts";
import { unitOf } from "../issue/find-issue.ts";
import type { IssueFilter } from "./issue-query.ts";

// Whose issues a search over several repositories looks at. Each statement begins with what the
// caller may see.

/** What narrows a search to some repositories: names in lower case. */
export interface SearchScope {
  readonly owner: string | undefined;
  /** A team of the owner. */
  readonly team: string | undefined;
}
type ScopeParams = Params<SearchScope>;

/** Repositories that a search looks into one by one: those that changed last. */
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
    return sql`select id from ${repositories} where owner_id = ${ownerIdOf(principal, owner)}`;
  }
  const tokenId = principal.boundTokenId;
  if (tokenId === undefined) return undefined;
  return sql`
    select ${accessTokenRepositories.repoId} as id
    from ${accessTokenRepositories}
    where ${accessTokenRepositories.tokenId} = ${tokenId}`;
}

/** Selects the ids of repositories that a search of all might miss behind those of others. */
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

/** The repositories that a search looks into one by one. */
export interface Searched {
  /** The common table expression `searched`; undefined where there are none. */
  readonly table: SQL | undefined;
  /** Whether the search is narrowed to them. */
  readonly isScoped: boolean;
}

/**
 * The repositories of the scope, or of the caller's grants, as the common table expression
 * `searched`: the ids of those whose issues or pull requests the caller sees, with which of both
 * and with the counters.
 */
export function searchedOf(principal: PrincipalSql, scope: ScopeParams): Searched {
  const scoped = scopeIds(principal, scope);
  const ids = scoped ?? grantedIds(principal);
  if (!ids) return { table: undefined, isScoped: false };
  // Without an index of what everybody sees: the repositories are few of those. As a join: SQLite
  // takes 100 levels of expressions, and those that find a team are in no condition this way.
  const table = sql`searched as materialized (
    select * from (
      select ${repositories.id} as id, ${repositories.ownerId} as owner_id,
        ${repositories.updatedAt} as updated_at,
        ${repositories.openIssueCount} as count_00, ${repositories.closedIssueCount} as count_01,
        ${repositories.openPullCount} as count_10, ${repositories.closedPullCount} as count_11,
        ${isKindVisible(principal, false)} as sees_0, ${isKindVisible(principal, true)} as sees_1
      from (select distinct id from (${ids})) scoped
      cross join ${repositories} on ${repositories.id} = scoped.id
    )
    where (sees_0 or sees_1) is true
    order by updated_at desc
    limit ${REPOSITORIES_MAX}
  )`;
  return { table, isScoped: scoped !== undefined };
}

/** The columns of `searched` about issues of a kind and a state. */
export const columnsOfPart = (isPull: boolean, isClosed: boolean) => ({
  count: sql.raw(`count_${Number(isPull)}${Number(isClosed)}`),
  isSeen: sql.raw(`sees_${Number(isPull)}`),
});
