import { eq, sql, type SQL } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import { anyOf } from "../../db/db.ts";
import {
  ACCESS,
  accessTokens,
  collaborations,
  organizationMembers,
  repositories,
  repositoryTransfers,
  teamMembers,
  teams,
  users,
} from "../../db/schema/index.ts";
import { TO_SEE, type Requirement } from "./requirement.ts";
import { reachesRepository, teamGrants } from "./team-modes.ts";
import { isOfferedTo } from "./transfers.ts";

const reader = alias(users, "reader");
const caller = alias(users, "caller");
const offered = alias(repositories, "offered");

/**
 * The condition, on the `repositories` rows of a query, that a user was granted what is required:
 * as the owner, by a collaboration, by a team, as a member of the organization that owns the
 * repository, or by a pending transfer.
 *
 * @param userId   A value, or a column of the enclosing query.
 * @param isEnough The condition that a team grants it, where it differs from
 *   `teamGrants(requirement)`.
 * @param isPrivate The condition that the repository counts as private for members of the
 *   organization.
 */
export function isGranted(
  userId: SQL,
  requirement: Requirement,
  isEnough: SQL = teamGrants(requirement),
  isPrivate: SQL = sql`${repositories.isPrivate}`,
): SQL {
  return anyOf(
    eq(repositories.ownerId, userId),
    isCollaborator(userId, requirement),
    isGrantedByTeam(userId, isEnough),
    requirement.mode === "read" ? isReadableByMember(userId, isPrivate) : undefined,
    requirement.mode === "read" ? isOfferedTo(userId) : undefined,
  );
}

/** The condition that the token of a job grants it what is required in the job's repository. */
export function isGrantedToJob(tokenId: SQL, { unit, mode }: Requirement): SQL {
  if (unit === undefined && mode !== "read") return sql`0`;
  const granted =
    unit === undefined
      ? sql`exists (select 1 from json_each(${accessTokens.grants}) where value > 0)`
      : sql`${accessTokens.grants} ->> ${sql.raw(`'$.${unit}'`)}
          >= ${sql.raw(String(ACCESS[mode]))}`;
  return sql`exists (
    select 1 from ${accessTokens}
    where ${accessTokens.id} = ${tokenId} and ${accessTokens.grants} is not null and ${granted}
  )`;
}

/**
 * The condition, on the `repositories` rows of a query, that a user may see the repository with an
 * unrestricted credential.
 *
 * @param userId   A value, or a column of the enclosing query.
 * @param isEnough The condition that a team lets its members see it, where not all teams count.
 */
export function isVisibleTo(userId: SQL, isEnough: SQL = teamGrants(TO_SEE)): SQL {
  return anyOf(isGranted(userId, TO_SEE, isEnough), isVisibleWithoutGrant(userId));
}

/**
 * The condition, on the `repositories` rows of a query, that a user sees the repository by its
 * visibility, or as an administrator of the site.
 */
export const isVisibleWithoutGrant = (userId: SQL): SQL => sql`exists (
  select 1 from ${users} ${reader}
  where ${reader.id} = ${userId} and (
    ${reader.isAdmin} or (${repositories.visibility} <> 'private' and not ${reader.isRestricted})
  )
)`;

/**
 * The condition, on the `repositories` rows of a query, that a user is named for the repository: as
 * its owner, as a collaborator, or in a team.
 */
export const isGrantedToPerson = (userId: SQL): SQL =>
  anyOf(
    eq(repositories.ownerId, userId),
    isCollaborator(userId, TO_SEE),
    isGrantedByTeam(userId, teamGrants(TO_SEE)),
  );

function isCollaborator(userId: SQL, { mode }: Requirement): SQL {
  // Every collaborator may read: without a condition on the mode, the index alone answers.
  const hasMode = mode === "read" ? sql`1` : sql`${collaborations.access} >= ${ACCESS[mode]}`;
  return sql`exists (
    select 1 from ${collaborations}
    where ${collaborations.repoId} = ${repositories.id}
      and ${collaborations.userId} = ${userId} and ${hasMode}
  )`;
}

const isGrantedByTeam = (userId: SQL, isEnough: SQL): SQL => sql`exists (
  select 1 from ${teamMembers} join ${teams} on ${teams.id} = ${teamMembers.teamId}
  where ${teamMembers.userId} = ${userId} and ${teams.orgId} = ${repositories.ownerId}
    and ${isEnough} and ${reachesRepository}
)`;

/** Members of an organization read its repositories that are not private. */
const isReadableByMember = (userId: SQL, isPrivate: SQL): SQL =>
  sql`(not ${isPrivate} and ${isOwnedByOrganizationOf(userId)})`;

/** The condition that a repository's owner is an organization that the user belongs to. */
export const isOwnedByOrganizationOf = (userId: SQL): SQL => sql`exists (
  select 1 from ${organizationMembers}
  where ${organizationMembers.orgId} = ${repositories.ownerId}
    and ${organizationMembers.userId} = ${userId}
)`;

/**
 * The condition that a user may have a grant in a repository of an account: without one, no private
 * repository is seen.
 */
export const mayBeGranted = (actorId: SQL, owner: SQL): SQL => sql`(
  ${actorId} is not null and (${actorId} = ${owner}
  or exists (select 1 from ${users} ${caller} where ${caller.id} = ${actorId} and ${caller.isAdmin})
  or exists (
    select 1 from ${organizationMembers}
    where ${organizationMembers.orgId} = ${owner} and ${organizationMembers.userId} = ${actorId}
  )
  or exists (select 1 from ${collaborations} where ${collaborations.userId} = ${actorId})
  or exists (
    select 1
    from ${repositoryTransfers}
    join ${repositories} ${offered} on ${offered.id} = ${repositoryTransfers.repoId}
    where ${offered.ownerId} = ${owner}
  ))
)`;
