import { sql, type SQL } from "drizzle-orm";

import {
  ACCESS,
  collaborations,
  organizationMembers,
  repositories,
  teamMembers,
  teamRepositories,
  teams,
  users,
  type Repository,
} from "../../db/schema/index.ts";
import type { Requirement } from "./requirement.ts";
import { teamGives } from "./team-modes.ts";
import { isUnitOn } from "./unit-switches.ts";

/**
 * The condition, for a user of a query, that they have what is required in a repository at hand.
 *
 * The same rule as `resolvePermission` for a credential that narrows nothing. Whoever was granted
 * something is found by indexes, once for the whole query; for what everybody may read the user is
 * looked up.
 *
 * @param userId A column of the query around.
 * @param repo   The row, or the row as it is about to be.
 */
export function reaches(userId: SQL, repo: Repository, requirement: Requirement): SQL {
  const { unit, mode } = requirement;
  if (unit !== undefined && !isUnitOn(repo, unit)) return sql`0`;
  const isOpen = mode === "read" && repo.visibility !== "private";
  const isForAnybody = isOpen ? sql`not reader.is_restricted` : sql`0`;
  return sql`(
    ${userId} in ${grantedUserIds(repo, requirement)} or exists (
      select 1 from ${users} reader
      where reader.id = ${userId} and (reader.is_admin or ${isForAnybody})
    )
  )`;
}

/**
 * Ids of those who were granted what is required in a repository: its owner, collaborators, members
 * of teams, and members of the organization that owns it. Not those who may read what everybody may.
 */
function grantedUserIds(repo: Repository, requirement: Requirement): SQL {
  const { mode } = requirement;
  const reachesThis = sql`(
    ${teams.includesAllRepositories} or exists (
      select 1 from ${teamRepositories}
      where ${teamRepositories.teamId} = ${teams.id} and ${teamRepositories.repoId} = ${repo.id}
    )
  )`;
  const isOpenToMembers = mode === "read" && !repo.isPrivate;
  return sql`(
    select ${repositories.ownerId} from ${repositories} where ${repositories.id} = ${repo.id}
    union select ${collaborations.userId} from ${collaborations}
    where ${collaborations.repoId} = ${repo.id} and ${collaborations.access} >= ${ACCESS[mode]}
    union select ${teamMembers.userId}
    from ${teams} join ${teamMembers} on ${teamMembers.teamId} = ${teams.id}
    where ${teams.orgId} = ${repo.ownerId} and ${teamGives(requirement)} and ${reachesThis}
    union select ${organizationMembers.userId} from ${organizationMembers}
    where ${organizationMembers.orgId} = ${repo.ownerId} and ${isOpenToMembers ? 1 : 0}
  )`;
}
