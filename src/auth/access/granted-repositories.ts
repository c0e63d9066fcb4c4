import { sql, type SQL } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import {
  collaborations,
  organizationMembers,
  repositories,
  teamMembers,
  teamRepositories,
  teams,
} from "../../db/schema/index.ts";
import type { PrincipalSql } from "../principal.ts";
import { TO_SEE } from "./requirement.ts";
import { teamGrants } from "./team-modes.ts";
import { offeredRepositoryIds } from "./transfers.ts";

const reached = alias(repositories, "reached");

/**
 * Selects the ids of repositories that the caller sees by a grant rather than by visibility. Ids
 * may repeat. The caller's credential may narrow the result further.
 */
export function grantedRepositoryIds({ userId, isSiteAdmin, isRestricted }: PrincipalSql): SQL {
  if (userId === undefined || isSiteAdmin) return sql`select id from ${repositories} where 0`;
  // Of an organization's repositories that are not private, a member needs the grant only for those
  // of a private organization, and a restricted member for all. The index `repositories_internal`
  // has nothing else; the order of the join is fixed, since the planner would begin with all
  // private repositories.
  const needsGrant = isRestricted ? sql`1` : sql`${reached.visibility} = 'private'`;
  return sql`
    select id from (${reachableRepositoryIds(userId)})
    union all select ${reached.id} from ${organizationMembers}
    cross join ${repositories} ${reached}
      on ${reached.ownerId} = ${organizationMembers.orgId}
      and not ${reached.isPrivate}
      and ${needsGrant}
    where ${organizationMembers.userId} = ${userId}`;
}

/**
 * Selects the ids of repositories that a user owns, collaborates on, reaches by a team, or is
 * offered by a pending transfer. Ids may repeat.
 */
export function reachableRepositoryIds(userId: number | SQL): SQL {
  const isGranting = teamGrants(TO_SEE);
  return sql`
    select id from ${repositories} where owner_id = ${userId}
    union all ${collaboratedRepositoryIds(userId)}
    union all select ${teamRepositories.repoId}
    from ${teamMembers} join ${teams} on ${teams.id} = ${teamMembers.teamId} and ${isGranting}
    join ${teamRepositories} on ${teamRepositories.teamId} = ${teams.id}
    where ${teamMembers.userId} = ${userId}
    union all select ${reached.id}
    from ${teamMembers} join ${teams} on ${teams.id} = ${teamMembers.teamId}
      and ${teams.includesAllRepositories} and ${isGranting}
    join ${repositories} ${reached} on ${reached.ownerId} = ${teams.orgId}
    where ${teamMembers.userId} = ${userId}
    union all ${offeredRepositoryIds(userId)}`;
}

/** Selects the ids of the repositories on which a user collaborates. */
export const collaboratedRepositoryIds = (userId: number | SQL): SQL => sql`
  select ${collaborations.repoId}
  from ${collaborations}
  where ${collaborations.userId} = ${userId}`;

/** Selects the ids of the repositories that a team reaches. */
export const teamRepositoryIds = (teamId: number | SQL): SQL => sql`
  select ${teamRepositories.repoId} from ${teamRepositories}
  where ${teamRepositories.teamId} = ${teamId}
  union select ${reached.id} from ${teams}
  join ${repositories} ${reached} on ${reached.ownerId} = ${teams.orgId}
  where ${teams.id} = ${teamId} and ${teams.includesAllRepositories}`;

/** Selects the id of a team's organization. */
export const organizationOfTeam = (teamId: number | SQL): SQL => sql`(
  select ${teams.orgId} from ${teams} where ${teams.id} = ${teamId}
)`;

/** The condition that a team reaches a repository of its organization. */
export const isReachedByTeam = (teamId: number | SQL, repoId: SQL): SQL => sql`(
  exists (
    select 1 from ${teamRepositories}
    where ${teamRepositories.teamId} = ${teamId} and ${teamRepositories.repoId} = ${repoId}
  ) or exists (
    select 1 from ${teams} where ${teams.id} = ${teamId} and ${teams.includesAllRepositories}
  )
)`;
