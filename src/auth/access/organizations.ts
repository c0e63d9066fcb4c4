import { sql, type SQL } from "drizzle-orm";

import { flagColumn } from "../../db/db.ts";
import { ACCESS, organizationMembers, teamMembers, teams, users } from "../../db/schema/index.ts";

/** What a caller is in an organization. */
export interface OrganizationFacts {
  isMember: boolean;
  isOwner: boolean;
  canCreateRepository: boolean;
}

/** SQL for the facts of each account of a query, to be selected beside it. */
export function organizationFacts(actorId: SQL): {
  [K in keyof OrganizationFacts]: SQL.Aliased<OrganizationFacts[K]>;
} {
  const orgId = sql`${users.id}`;
  return {
    isMember: flagColumn(isMemberOf(orgId, actorId), "is_member"),
    isOwner: flagColumn(isOwnerOf(orgId, actorId), "is_owner"),
    canCreateRepository: flagColumn(
      isInTeamOf(
        orgId,
        actorId,
        sql`(${teams.access} >= ${ACCESS.owner} or ${teams.canCreateOrgRepo})`,
      ),
      "can_create_repository",
    ),
  };
}

/** The condition for a user who belongs to an organization, in whatever way. */
export const isMemberOf = (orgId: SQL, userId: SQL): SQL => sql`exists (
  select 1 from ${organizationMembers}
  where ${organizationMembers.orgId} = ${orgId} and ${organizationMembers.userId} = ${userId}
)`;

/** The condition for an owner of an organization. */
export const isOwnerOf = (orgId: SQL, userId: SQL): SQL =>
  isInTeamOf(orgId, userId, sql`${teams.access} = ${ACCESS.owner}`);

const isInTeamOf = (orgId: SQL, userId: SQL, condition: SQL): SQL => sql`exists (
  select 1 from ${teamMembers} join ${teams} on ${teams.id} = ${teamMembers.teamId}
  where ${teams.orgId} = ${orgId} and ${teamMembers.userId} = ${userId} and ${condition}
)`;

/** Ids of the members of an organization: all of them, or those whose membership is public. */
export const memberIds = (orgId: number, isPublicOnly: boolean): SQL => sql`(
  select ${organizationMembers.userId} from ${organizationMembers}
  where ${organizationMembers.orgId} = ${orgId}
    and (${organizationMembers.isPublic} or ${isPublicOnly ? 0 : 1})
)`;

/** Ids of the organizations of a user: all of them, or those of a public membership. */
export const organizationIds = (userId: number, isPublicOnly: boolean): SQL => sql`(
  select ${organizationMembers.orgId} from ${organizationMembers}
  where ${organizationMembers.userId} = ${userId}
    and (${organizationMembers.isPublic} or ${isPublicOnly ? 0 : 1})
)`;

/**
 * Ids of the organizations of a user that somebody else may know of: those of a public membership, and
 * those that both belong to.
 */
export const knownOrganizationIds = (userId: number, viewerId: number | undefined): SQL => sql`(
  select m.org_id from ${organizationMembers} m
  where m.user_id = ${userId} and (
    m.is_public or exists (
      select 1 from ${organizationMembers} own
      where own.org_id = m.org_id and own.user_id = ${viewerId ?? null}
    )
  )
)`;
