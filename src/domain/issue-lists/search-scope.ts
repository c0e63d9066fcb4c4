import { principalOf } from "../../auth/principal.ts";
import { sql, type SQL } from "drizzle-orm";

import { isAccountVisible } from "../../auth/access/accounts.ts";
import { grantedRepositoryIds, teamRepositoryIds } from "../../auth/access/granted-repositories.ts";
import { teamIdSeenBy } from "../../auth/access/teams.ts";
import { isUnitOnSql } from "../../auth/access/unit-switches.ts";
import {
  isRepositoryAllowed,
  visibilitiesWithoutGrant,
} from "../../auth/access/visible-repositories.ts";
import { type Actor, boundTokenId } from "../../auth/actor.ts";
import { allOf } from "../../db/db.ts";
import { accessTokenRepositories, issues, repositories, users } from "../../db/schema/index.ts";
import { unitOf } from "../issues/find-issue.ts";
import { integer, withIntegers } from "./arguments.ts";
import type { IssueFilter } from "./issue-query.ts";

// Whose issues a search over several repositories looks at. Each statement begins with what the caller may see.

/** What narrows a search to some repositories. */
export interface SearchScope {
  readonly owner: string | undefined;
  /** A team of the owner. */
  readonly team: string | undefined;
}

/** Repositories that a search looks into one by one: those that changed last. */
const REPOSITORIES_MAX = 1000;

/** Selects the id of the owner, if the caller may see the account. */
export const ownerIdOf = (actor: Actor, name: string): SQL => sql`(
  select ${users.id} from ${users}
  where ${users.lowerName} = ${name.toLowerCase()} and ${isAccountVisible(principalOf(actor))}
)`;

/** Selects the id of the team, if the caller knows of it. */
export const teamIdOf = (actor: Actor, owner: string, team: string): SQL =>
  teamIdSeenBy(actor, ownerIdOf(actor, owner), team);

/** Selects the ids of the repositories that narrow a search; undefined for a search of all. */
function scopeIds(actor: Actor, { owner, team }: SearchScope): SQL | undefined {
  if (owner !== undefined && team !== undefined) {
    return teamRepositoryIds(teamIdOf(actor, owner, team));
  }
  if (owner !== undefined) {
    return sql`select id from ${repositories} where owner_id = ${ownerIdOf(actor, owner)}`;
  }
  const tokenId = boundTokenId(actor);
  if (tokenId === undefined) return undefined;
  return sql`
    select ${accessTokenRepositories.repoId} as id
    from ${accessTokenRepositories}
    where ${accessTokenRepositories.tokenId} = ${integer(tokenId)}`;
}

/** Selects the ids of repositories that a search of all might miss behind those of others. */
const grantedIds = (actor: Actor): SQL | undefined =>
  actor.user && !actor.isSiteAdmin
    ? withIntegers(grantedRepositoryIds(principalOf(actor)))
    : undefined;

/** Whether a caller sees any repository without a grant. */
export const seesSome = (actor: Actor): boolean =>
  visibilitiesWithoutGrant(principalOf(actor)).length > 0;

/** The condition, on the `repositories` rows of a query, that the caller sees its issues, or its pull requests. */
function isKindVisible(actor: Actor, isPull: boolean): SQL {
  const unit = unitOf({ isPull });
  return withIntegers(
    allOf(isUnitOnSql(unit), isRepositoryAllowed(principalOf(actor), { unit, mode: "read" })),
  );
}

/** The condition, on rows of `issues` and their `repositories`, that the caller sees an issue. */
export const isIssueSeen = (actor: Actor, { isPull }: Pick<IssueFilter, "isPull">): SQL =>
  isPull === undefined
    ? sql`case
        when ${issues.isPull} then ${isKindVisible(actor, true)}
        else ${isKindVisible(actor, false)}
      end`
    : isKindVisible(actor, isPull);

/** The repositories that a search looks into one by one. */
export interface Searched {
  /** The common table expression `searched`; undefined where there are none. */
  readonly table: SQL | undefined;
  /** Whether the search is narrowed to them. */
  readonly isScoped: boolean;
}

/**
 * The repositories of the scope, or of the caller's grants, as the common table expression `searched`: the ids of those
 * whose issues or pull requests the caller sees, with which of both and with the counters.
 */
export function searchedOf(actor: Actor, scope: SearchScope): Searched {
  const scoped = scopeIds(actor, scope);
  const ids = scoped ?? grantedIds(actor);
  if (!ids) return { table: undefined, isScoped: false };
  const table = sql`searched as materialized (
    select * from (
      select ${repositories.id} as id, ${repositories.ownerId} as owner_id,
        ${repositories.updatedAt} as updated_at,
        ${repositories.openIssueCount} as count_00, ${repositories.closedIssueCount} as count_01,
        ${repositories.openPullCount} as count_10, ${repositories.closedPullCount} as count_11,
        ${isKindVisible(actor, false)} as sees_0, ${isKindVisible(actor, true)} as sees_1
      from ${repositories}
      where ${repositories.id} in (${ids})
    )
    where sees_0 or sees_1
    order by updated_at desc
    limit ${integer(REPOSITORIES_MAX)}
  )`;
  return { table, isScoped: scoped !== undefined };
}

/** The columns of `searched` about issues of a kind and a state. */
export const columnsOfPart = (isPull: boolean, isClosed: boolean) => ({
  count: sql.raw(`count_${Number(isPull)}${Number(isClosed)}`),
  isSeen: sql.raw(`sees_${Number(isPull)}`),
});
