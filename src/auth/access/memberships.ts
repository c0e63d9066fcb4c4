import { and, eq, ne, sql, type SQL } from "drizzle-orm";

import { flagColumn, columnsOf, type Database } from "../../db/db.ts";
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

// The statements of the verbs that change who belongs where; these put them into their batches.

type Id = number | SQL<number>;

/** Makes the team "Owners" of a new organization, with its first member. */
export function foundOwners(db: Database, orgId: SQL<number>, creatorId: number, now: number) {
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

/** Adds a user to an organization; doing so again changes nothing. */
export const insertMember = (db: Database, orgId: Id, userId: number) =>
  db.insert(organizationMembers).values({ orgId, userId }).onConflictDoNothing();

/** Adds a user to a team; doing so again changes nothing. */
export const insertTeamMember = (db: Database, teamId: Id, userId: number) =>
  db.insert(teamMembers).values({ teamId, userId }).onConflictDoNothing();

/**
 * Removes a user from a team, but not the last owner of an organization.
 *
 * The condition is part of the statement, so that the last two owners can't leave at once.
 */
export function deleteTeamMember(db: Database, team: Team, userId: number) {
  const isLastOwner = sql`
    (select ${teams.access} = ${ACCESS.owner} from ${teams} where ${teams.id} = ${team.id})
    and (select count(*) from ${teamMembers} others where others.team_id = ${team.id}) = 1`;
  return db
    .delete(teamMembers)
    .where(and(isTeamMember(team, userId), sql`not (${isLastOwner})`))
    .returning();
}

/** Selects the row of a user in a team. */
export const selectTeamMember = (db: Database, team: Team, userId: number) =>
  db.select({ teamId: teamMembers.teamId }).from(teamMembers).where(isTeamMember(team, userId));

const isTeamMember = (team: Team, userId: number) =>
  and(eq(teamMembers.teamId, team.id), eq(teamMembers.userId, userId));

/** Removes a user from an organization of which no team has them any more. */
export function deleteMemberWithoutTeam(db: Database, orgId: number, userId: number) {
  const isInTeam = sql`exists (
    select 1 from ${teamMembers} join ${teams} on ${teams.id} = ${teamMembers.teamId}
    where ${teams.orgId} = ${orgId} and ${teamMembers.userId} = ${userId}
  )`;
  return db.delete(organizationMembers).where(and(isMember(orgId, userId), sql`not ${isInTeam}`));
}

/** Sets whether a membership is public; doing so again changes nothing. */
export const updateMembershipVisibility = (
  db: Database,
  orgId: number,
  userId: number,
  isPublic: boolean,
) =>
  db
    .update(organizationMembers)
    .set({ isPublic })
    .where(and(isMember(orgId, userId), ne(organizationMembers.isPublic, isPublic)));

const isMember = (orgId: number, userId: number) =>
  and(eq(organizationMembers.orgId, orgId), eq(organizationMembers.userId, userId));

/**
 * Selects members of an organization.
 *
 * @param isSeen Whether the caller sees the account, beside it.
 */
export const selectMembers = (db: Database, orgId: number, isListed: SQL, isSeen: SQL) =>
  db
    .select({
      user: columnsOf(users, "u"),
      isPublic: organizationMembers.isPublic,
      isSeen: flagColumn(isSeen, "is_seen"),
    })
    .from(organizationMembers)
    .innerJoin(users, eq(users.id, organizationMembers.userId))
    .where(and(eq(organizationMembers.orgId, orgId), isListed));

/** Makes a user an administrator of the repositories that a condition names. */
export const insertAdministrator = (db: Database, isThis: SQL, userId: number) =>
  db
    .insert(collaborations)
    .select(sql`select id, ${userId}, ${ACCESS.admin} from ${repositories} where ${isThis}`);
