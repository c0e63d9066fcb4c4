import { eq, sql, type SQL } from "drizzle-orm";

import { flagColumn, type Database } from "../../db/db.ts";
import {
  ACCESS,
  collaborations,
  organizationMembers,
  teamMembers,
  teams,
} from "../../db/schema/index.ts";

// Statements with which an account that is being deleted leaves organizations, teams and repositories.

/** Whether a user belongs to an organization. */
export const isMemberAnywhere = (userId: number | SQL): SQL => sql`exists (
  select 1 from ${organizationMembers} own where own.user_id = ${userId}
)`;

/** Selects organizations of a user, and whether each would stay without an owner. */
export const selectMembershipsOf = (db: Database, userId: number, countMax: number) =>
  db
    .select({
      orgId: organizationMembers.orgId,
      isOnlyOwner: flagColumn(isOnlyOwner(sql`${organizationMembers.orgId}`, userId), "only_owner"),
    })
    .from(organizationMembers)
    .where(eq(organizationMembers.userId, userId))
    .orderBy(organizationMembers.orgId)
    .limit(countMax);

/** Whether a user owns an organization that nobody else owns. */
export function isOnlyOwner(orgId: number | SQL, userId: number): SQL {
  const ownsAs = (isThem: SQL) => sql`exists (
    select 1
    from ${teams} owning
    join ${teamMembers} owner on owner.team_id = owning.id
    where owning.org_id = ${orgId} and owning.access = ${ACCESS.owner} and ${isThem}
  )`;
  return sql`(
    ${ownsAs(sql`owner.user_id = ${userId}`)} and not ${ownsAs(sql`owner.user_id <> ${userId}`)}
  )`;
}

/**
 * Removes a user from an organization and its teams, unless it would stay without an owner. The condition is part of the
 * statements, so that two owners who leave at once do not both leave.
 */
export function deleteMembership(db: Database, orgId: number, userId: number) {
  const isFree = sql`not ${isOnlyOwner(orgId, userId)}`;
  const isInTeam = sql`exists (
    select 1
    from ${teams} own
    join ${teamMembers} membership on membership.team_id = own.id
    where own.org_id = ${orgId} and membership.user_id = ${userId}
  )`;
  return [
    db.delete(teamMembers).where(
      sql`
        ${teamMembers.userId} = ${userId}
        and ${teamMembers.teamId} in (select id from ${teams} own where own.org_id = ${orgId})
        and ${isFree}`,
    ),
    db.delete(organizationMembers).where(
      sql`
        ${organizationMembers.orgId} = ${orgId}
        and ${organizationMembers.userId} = ${userId}
        and not ${isInTeam}`,
    ),
  ] as const;
}

/** Deletes some of the rows that grant access to an account, or through its teams to others. */
export function deleteSomeGrants(db: Database, accountId: number, rowsMax: number) {
  const some = (ids: SQL) => sql`rowid in (${ids} limit ${rowsMax})`;
  return [
    db
      .delete(collaborations)
      .where(
        some(sql`select own.rowid from ${collaborations} own where own.user_id = ${accountId}`),
      ),
    db.delete(teamMembers).where(
      some(sql`
        select own.rowid
        from ${teams}
        join ${teamMembers} own on own.team_id = ${teams.id}
        where ${teams.orgId} = ${accountId}`),
    ),
    db
      .delete(organizationMembers)
      .where(
        some(sql`select own.rowid from ${organizationMembers} own where own.org_id = ${accountId}`),
      ),
  ] as const;
}
