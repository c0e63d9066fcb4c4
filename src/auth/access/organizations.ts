import { sql, type SQL } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import { flagColumn } from "../../db/db.ts";
import { ACCESS, organizationMembers, teamMembers, teams, users } from "../../db/schema/index.ts";

const owning = alias(teams, "owning");
const owner = alias(teamMembers, "owner");
const membership = alias(organizationMembers, "membership");
const own = alias(organizationMembers, "own");

/** A caller's roles in an organization. */
export interface OrganizationFacts {
  isMember: boolean;
  isOwner: boolean;
  canCreateRepository: boolean;
}

/** SQL columns that hold the facts for each account of a query. */
export function organizationFacts(actorId: SQL): {
  [K in keyof OrganizationFacts]: SQL.Aliased<OrganizationFacts[K]>;
} {
  const orgId = sql`${users.id}`;
  return {
    isMember: flagColumn(isMemberOf(orgId, actorId), "is_member"),
    isOwner: flagColumn(isOwnerOf(orgId, actorId), "is_owner"),
    canCreateRepository: flagColumn(mayCreateIn(orgId, actorId), "can_create_repository"),
  };
}

/** The condition that a user owns an organization that nobody else owns. */
export function isOnlyOwner(orgId: number | SQL, userId: number | SQL): SQL {
  const ownsAs = (isThem: SQL) => sql`exists (
    select 1
    from ${teams} ${owning}
    join ${teamMembers} ${owner} on ${owner.teamId} = ${owning.id}
    where ${owning.orgId} = ${orgId} and ${owning.access} = ${ACCESS.owner} and ${isThem}
  )`;
  return sql`(
    ${ownsAs(sql`${owner.userId} = ${userId}`)} and not ${ownsAs(sql`${owner.userId} <> ${userId}`)}
  )`;
}

/**
 * The condition that a user may create repositories in an organization, and so accept transfers to
 * it.
 */
export const mayCreateIn = (orgId: SQL, userId: SQL): SQL =>
  isInTeamOf(orgId, userId, letsCreateRepositories);

/** The condition that a team lets its members create repositories. */
export const letsCreateRepositories: SQL = sql`(
  ${teams.access} >= ${sql.raw(String(ACCESS.owner))} or ${teams.canCreateOrgRepo}
)`;

/** The condition that a user belongs to an organization, in any role. */
export const isMemberOf = (orgId: SQL, userId: SQL): SQL => sql`exists (
  select 1 from ${organizationMembers}
  where ${organizationMembers.orgId} = ${orgId} and ${organizationMembers.userId} = ${userId}
)`;

/** The condition that a user owns an organization. */
export const isOwnerOf = (orgId: SQL, userId: SQL): SQL =>
  isInTeamOf(orgId, userId, sql`${teams.access} = ${ACCESS.owner}`);

/** Selects the ids of the users who own an organization. */
export const organizationOwnerIds = (orgId: number | SQL): SQL => sql`
  select ${teamMembers.userId}
  from ${teams} join ${teamMembers} on ${teamMembers.teamId} = ${teams.id}
  where ${teams.orgId} = ${orgId} and ${teams.access} = ${ACCESS.owner}`;

const isInTeamOf = (orgId: SQL, userId: SQL, condition: SQL): SQL => sql`exists (
  select 1 from ${teamMembers} join ${teams} on ${teams.id} = ${teamMembers.teamId}
  where ${teams.orgId} = ${orgId} and ${teamMembers.userId} = ${userId} and ${condition}
)`;

/** The rights that a user's teams in an organization grant, of memberships that others may see. */
export interface OrganizationRights {
  /** The highest mode of the user's teams; the modes of single units do not count. */
  access: number;
  canCreateRepository: boolean;
  /** Whether people outside the organization see the membership. */
  isPublic: boolean;
}

/** SQL columns that hold a user's rights in each organization of a query over accounts. */
export function organizationRights(userId: number | SQL): {
  [K in keyof OrganizationRights]: SQL.Aliased<OrganizationRights[K]>;
} {
  const orgId = sql`${users.id}`;
  return {
    access: sql<number>`coalesce((
      select max(${teams.access})
      from ${teamMembers} join ${teams} on ${teams.id} = ${teamMembers.teamId}
      where ${teams.orgId} = ${orgId} and ${teamMembers.userId} = ${userId}
    ), 0)`.as("access"),
    canCreateRepository: flagColumn(mayCreateIn(orgId, sql`${userId}`), "user_can_create"),
    isPublic: flagColumn(
      sql`exists (
        select 1 from ${organizationMembers}
        where ${organizationMembers.orgId} = ${orgId} and ${organizationMembers.userId} = ${userId}
          and ${organizationMembers.isPublic}
      )`,
      "is_public",
    ),
  };
}

/**
 * Selects the ids of an organization's members: all members, or only those with a public
 * membership.
 */
export const memberIds = (orgId: number | SQL, isPublicOnly: boolean): SQL => sql`(
  select ${organizationMembers.userId} from ${organizationMembers}
  where ${organizationMembers.orgId} = ${orgId}
    and (${organizationMembers.isPublic} or ${isPublicOnly ? 0 : 1})
)`;

/**
 * Selects the ids of a user's organizations: all of them, or only those with a public membership.
 */
export const organizationIds = (userId: number | SQL, isPublicOnly: boolean): SQL => sql`(
  select ${organizationMembers.orgId} from ${organizationMembers}
  where ${organizationMembers.userId} = ${userId}
    and (${organizationMembers.isPublic} or ${isPublicOnly ? 0 : 1})
)`;

/**
 * Selects the ids of a user's organizations that a viewer may know of: those where the user's
 * membership is public, and those that the viewer belongs to as well.
 */
export const knownOrganizationIds = (
  userId: number | SQL,
  viewerId: number | SQL | undefined,
): SQL => sql`(
  select ${membership.orgId} from ${organizationMembers} ${membership}
  where ${membership.userId} = ${userId} and (
    ${membership.isPublic} or exists (
      select 1 from ${organizationMembers} ${own}
      where ${own.orgId} = ${membership.orgId} and ${own.userId} = ${viewerId ?? null}
    )
  )
)`;
