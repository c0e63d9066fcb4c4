import { and, eq, ne, sql, type SQL } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import { flagColumn, columnsOf, type Database } from "../../db/db.ts";
import { insertSelect } from "../../db/insert-select.ts";
import {
  ACCESS,
  collaborations,
  everyUnit,
  organizationMembers,
  repositories,
  teamMembers,
  teams,
  users,
  type Team,
} from "../../db/schema/index.ts";
import { asBlocked } from "./blocks.ts";
import { isOnlyOwner } from "./organizations.ts";

const others = alias(teamMembers, "others");
const own = alias(teamMembers, "own");
const ownMembership = alias(organizationMembers, "own");

// Statements that change memberships of organizations and teams, for the batches of the operations
// in `domain`.

type Id = number | SQL<number>;

/** Creates the team "Owners" of a new organization, with its creator as the first member. */
export function createOwnersTeam(db: Database, orgId: SQL<number>, creatorId: number, now: number) {
  const isOwners = sql`${teams.orgId} = ${orgId} and ${teams.lowerName} = 'owners'`;
  const ownersId = sql<number>`(select ${teams.id} from ${teams} where ${isOwners})`;
  const insert = db.insert(teams).values({
    orgId,
    name: "Owners",
    lowerName: "owners",
    access: ACCESS.owner,
    units: everyUnit(ACCESS.owner),
    includesAllRepositories: true,
    canCreateOrgRepo: true,
    createdAt: now,
  });
  return [
    insert,
    insertTeamMember(db, ownersId, creatorId),
    insertMember(db, orgId, creatorId),
  ] as const;
}

/** Adds a user to an organization. Idempotent. */
export const insertMember = (db: Database, orgId: Id, userId: number | SQL) =>
  db.insert(organizationMembers).values({ orgId, userId }).onConflictDoNothing();

/** Adds a user to a team. Idempotent. */
export const insertTeamMember = (db: Database, teamId: Id, userId: Id) =>
  db.insert(teamMembers).values({ teamId, userId }).onConflictDoNothing();

/**
 * Removes a user from a team, except the last owner of an organization.
 *
 * The condition is part of the statement, so that two concurrent requests can't remove the last two
 * owners.
 */
export function deleteTeamMember(db: Database, team: Team, userId: number | SQL) {
  const isLastOwner = sql`
    (select ${teams.access} = ${ACCESS.owner} from ${teams} where ${teams.id} = ${team.id})
    and (select count(*) from ${teamMembers} ${others} where ${others.teamId} = ${team.id}) = 1`;
  return db
    .delete(teamMembers)
    .where(and(isTeamMember(team, userId), sql`not (${isLastOwner})`))
    .returning();
}

/**
 * Removes a user from all teams of an organization, except the last owner: then from none.
 *
 * The condition is part of the statement, so that two concurrent requests can't remove the last two
 * owners.
 */
export function deleteTeamMemberships(db: Database, orgId: number | SQL, userId: number | SQL) {
  const ofOrganization = sql`select ${teams.id} from ${teams} where ${teams.orgId} = ${orgId}`;
  return db
    .delete(teamMembers)
    .where(
      and(
        eq(teamMembers.userId, userId),
        sql`${teamMembers.teamId} in (${ofOrganization})`,
        sql`not ${isOnlyOwner(orgId, userId)}`,
      ),
    );
}

/** Selects the membership row of a user in an organization. */
export const selectMember = (db: Database, orgId: number | SQL, userId: number | SQL) =>
  db
    .select({ userId: organizationMembers.userId })
    .from(organizationMembers)
    .where(isMember(orgId, userId));

/** Selects the membership row of a user in a team. */
export const selectTeamMember = (db: Database, team: Team, userId: number | SQL) =>
  db.select({ teamId: teamMembers.teamId }).from(teamMembers).where(isTeamMember(team, userId));

const isTeamMember = (team: Team, userId: number | SQL) =>
  and(eq(teamMembers.teamId, team.id), eq(teamMembers.userId, userId));

/** Removes a user from an organization if none of its teams has them as a member. */
export function deleteMemberWithoutTeam(db: Database, orgId: number | SQL, userId: number | SQL) {
  const isInTeam = sql`exists (
    select 1 from ${teamMembers} join ${teams} on ${teams.id} = ${teamMembers.teamId}
    where ${teams.orgId} = ${orgId} and ${teamMembers.userId} = ${userId}
  )`;
  return db
    .delete(organizationMembers)
    .where(and(isMember(orgId, userId), sql`not ${isInTeam}`))
    .returning();
}

/** Removes the members of a team from its organization who are in no other of its teams. */
export function deleteMembersWithoutOtherTeam(db: Database, team: Team) {
  const isInOther = sql`exists (
    select 1 from ${teamMembers} ${own} join ${teams} on ${teams.id} = ${own.teamId}
    where ${own.userId} = ${organizationMembers.userId}
      and ${teams.orgId} = ${team.orgId} and ${teams.id} <> ${team.id}
  )`;
  return db.delete(organizationMembers).where(
    and(
      eq(organizationMembers.orgId, team.orgId),
      sql`${organizationMembers.userId} in (
          select ${teamMembers.userId} from ${teamMembers} where ${teamMembers.teamId} = ${team.id}
        )`,
      sql`not ${isInOther}`,
    ),
  );
}

/** Selects how many memberships of an organization's teams there are, counting up to a bound. */
export const selectMembershipCount = (db: Database, orgId: number | SQL, bound: number) =>
  db.select({ count: sql<number>`count(*)`.as("count") }).from(
    sql`(
        select 1 from ${teams} join ${teamMembers} on ${teamMembers.teamId} = ${teams.id}
        where ${teams.orgId} = ${orgId}
        limit ${bound}
      )`,
  );

/**
 * Removes up to a number of members from an organization's teams other than its owners', and from
 * the organization as many who are in no team any more: a step of its deletion.
 */
export function deleteSomeMemberships(db: Database, orgId: number | SQL, rowsMax: number) {
  const isInTeam = sql`exists (
    select 1 from ${teamMembers} join ${teams} on ${teams.id} = ${teamMembers.teamId}
    where ${teams.orgId} = ${orgId} and ${teamMembers.userId} = ${ownMembership.userId}
  )`;
  return [
    db
      .delete(teamMembers)
      .where(
        sql`(${teamMembers.teamId}, ${teamMembers.userId}) in (
          select ${own.teamId}, ${own.userId}
          from ${teams} join ${teamMembers} ${own} on ${own.teamId} = ${teams.id}
          where ${teams.orgId} = ${orgId} and ${teams.access} <> ${ACCESS.owner}
          limit ${rowsMax}
        )`,
      )
      .returning({ userId: teamMembers.userId }),
    db.delete(organizationMembers).where(
      sql`${organizationMembers.orgId} = ${orgId} and ${organizationMembers.userId} in (
          select ${ownMembership.userId} from ${organizationMembers} ${ownMembership}
          where ${ownMembership.orgId} = ${orgId} and not ${isInTeam}
          limit ${rowsMax}
        )`,
    ),
  ] as const;
}

/** Sets whether a membership is public. Idempotent. */
export const updateMembershipVisibility = (
  db: Database,
  orgId: number | SQL,
  userId: number | SQL,
  isPublic: boolean,
) =>
  db
    .update(organizationMembers)
    .set({ isPublic })
    .where(and(isMember(orgId, userId), ne(organizationMembers.isPublic, isPublic)));

const isMember = (orgId: number | SQL, userId: number | SQL) =>
  and(eq(organizationMembers.orgId, orgId), eq(organizationMembers.userId, userId));

/**
 * Selects members of an organization.
 *
 * @param isListed The condition on a membership to be listed.
 * @param isSeen Whether the caller sees the member's account, returned with it.
 */
export const selectMembers = (db: Database, orgId: number | SQL, isListed: SQL, isSeen: SQL) =>
  db
    .select({
      user: columnsOf(users, "u"),
      isPublic: organizationMembers.isPublic,
      isSeen: flagColumn(isSeen, "is_seen"),
    })
    .from(organizationMembers)
    .innerJoin(users, eq(users.id, organizationMembers.userId))
    .where(and(eq(organizationMembers.orgId, orgId), isListed));

/** Makes a user an administrator of the repositories that match a condition. */
export const insertAdministrator = (db: Database, isThis: SQL, userId: number | SQL) =>
  insertSelect(
    db,
    collaborations,
    { repoId: repositories.id, userId, access: ACCESS.admin },
    sql`from ${repositories} where ${isThis}`,
  );

/** The refusal for a failed batch that adds a member, as `asBlocked` returns it. */
export const asBlockedMember = (error: unknown): unknown =>
  asBlocked(error, "team_members.user_id");
