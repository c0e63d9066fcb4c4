import { eq, sql, type SQL } from "drizzle-orm";

import { anyOf } from "../../db/db.ts";
import {
  ACCESS,
  collaborations,
  organizationMembers,
  repositories,
  teamMembers,
  teams,
} from "../../db/schema/index.ts";
import type { Requirement } from "./requirement.ts";
import { reachesRepository, teamGives } from "./team-modes.ts";

/**
 * The condition, on each repository of a query, that a user was granted what is required: as its
 * owner, by a collaboration, by a team, or as a member of the organization that owns it.
 *
 * @param userId   A value, or a column of the query around.
 * @param isEnough The condition for a team that gives it, where that is not the plain one.
 */
export function isGranted(
  userId: SQL,
  requirement: Requirement,
  isEnough: SQL = teamGives(requirement),
): SQL {
  return anyOf(
    eq(repositories.ownerId, userId),
    isCollaborator(userId, requirement),
    isGivenByTeam(userId, isEnough),
    requirement.mode === "read" ? isOpenToMember(userId) : undefined,
  );
}

function isCollaborator(userId: SQL, { mode }: Requirement): SQL {
  // Every collaborator may read: what is said of the mode would cost a look at the row.
  const hasMode = mode === "read" ? sql`1` : sql`${collaborations.access} >= ${ACCESS[mode]}`;
  return sql`exists (
    select 1 from ${collaborations}
    where ${collaborations.repoId} = ${repositories.id}
      and ${collaborations.userId} = ${userId} and ${hasMode}
  )`;
}

const isGivenByTeam = (userId: SQL, isEnough: SQL): SQL => sql`exists (
  select 1 from ${teamMembers} join ${teams} on ${teams.id} = ${teamMembers.teamId}
  where ${teamMembers.userId} = ${userId} and ${teams.orgId} = ${repositories.ownerId}
    and ${isEnough} and ${reachesRepository}
)`;

/** Members read what their organization does not keep private. */
const isOpenToMember = (userId: SQL): SQL =>
  sql`(not ${repositories.isPrivate} and ${isOwnedByOrganizationOf(userId)})`;

/** The condition for a repository whose owner is an organization that the user belongs to. */
export const isOwnedByOrganizationOf = (userId: SQL): SQL => sql`exists (
  select 1 from ${organizationMembers}
  where ${organizationMembers.orgId} = ${repositories.ownerId}
    and ${organizationMembers.userId} = ${userId}
)`;
