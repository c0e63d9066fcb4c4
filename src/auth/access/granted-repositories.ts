import { sql, type SQL } from "drizzle-orm";

import {
  collaborations,
  organizationMembers,
  repositories,
  teamMembers,
  teamRepositories,
  teams,
} from "../../db/schema/index.ts";
import type { Actor } from "../actor.ts";
import { TO_SEE } from "./requirement.ts";
import { teamGives } from "./team-modes.ts";

/**
 * Ids of what the caller sees because it was granted to them, beyond what is open to everybody like
 * them: in a row, perhaps repeated. A credential may narrow it further.
 */
export function grantedRepositoryIds({ user, isSiteAdmin }: Actor): SQL {
  if (!user || isSiteAdmin) return sql`select id from ${repositories} where 0`;
  return sql`
    ${reachableRepositoryIds(user.id)}
    union all select r.id from ${organizationMembers}
    join ${repositories} r on r.owner_id = ${organizationMembers.orgId} and not r.is_private
    where ${organizationMembers.userId} = ${user.id}`;
}

/** Ids of what a user owns, of what they collaborate on, and of what their teams reach, perhaps repeated. */
export function reachableRepositoryIds(userId: number): SQL {
  const isGiving = teamGives(TO_SEE);
  return sql`
    select id from ${repositories} where owner_id = ${userId}
    union all ${collaboratedRepositoryIds(userId)}
    union all select ${teamRepositories.repoId}
    from ${teamMembers} join ${teams} on ${teams.id} = ${teamMembers.teamId} and ${isGiving}
    join ${teamRepositories} on ${teamRepositories.teamId} = ${teams.id}
    where ${teamMembers.userId} = ${userId}
    union all select r.id
    from ${teamMembers} join ${teams} on ${teams.id} = ${teamMembers.teamId}
      and ${teams.includesAllRepositories} and ${isGiving}
    join ${repositories} r on r.owner_id = ${teams.orgId}
    where ${teamMembers.userId} = ${userId}`;
}

/** Ids of the repositories on which a user collaborates. */
export const collaboratedRepositoryIds = (userId: number): SQL => sql`
  select ${collaborations.repoId}
  from ${collaborations}
  where ${collaborations.userId} = ${userId}`;

/** Ids of the repositories that a team reaches. */
export const teamRepositoryIds = (teamId: number): SQL => sql`
  select ${teamRepositories.repoId} from ${teamRepositories}
  where ${teamRepositories.teamId} = ${teamId}
  union select r.id from ${teams} join ${repositories} r on r.owner_id = ${teams.orgId}
  where ${teams.id} = ${teamId} and ${teams.includesAllRepositories}`;

/** The organization of a team. */
export const organizationOfTeam = (teamId: number): SQL => sql`(
  select ${teams.orgId} from ${teams} where ${teams.id} = ${teamId}
)`;

/** The condition for a repository of a team's organization that the team reaches. */
export const isReachedByTeam = (teamId: number, repoId: SQL): SQL => sql`(
  exists (
    select 1 from ${teamRepositories}
    where ${teamRepositories.teamId} = ${teamId} and ${teamRepositories.repoId} = ${repoId}
  ) or exists (
    select 1 from ${teams} where ${teams.id} = ${teamId} and ${teams.includesAllRepositories}
  )
)`;
