import { asc, count, desc, eq, sql, type SQL } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import { allOf, anyOf, columnsOf, flagColumn, type Database } from "../../db/db.ts";
import { lowered } from "../../db/ids-of-names.ts";
import type { Params } from "../../db/prepared.ts";
import {
  ACCESS,
  organizationMembers,
  teamMembers,
  teamRepositories,
  teams,
  users,
} from "../../db/schema/index.ts";
import type { PrincipalSql } from "../principal.ts";
import { isMemberOf, isOwnerOf } from "./organizations.ts";

/** Selects a team with its organization and a user's roles in both. */
export function selectTeam(db: Database, teamId: number | SQL, userId: number | SQL | undefined) {
  const actorId = sql`${userId ?? null}`;
  const orgId = sql`${users.id}`;
  const isInTeam = sql`exists (
    select 1 from ${teamMembers}
    where ${teamMembers.teamId} = ${teams.id} and ${teamMembers.userId} = ${actorId}
  )`;
  return db
    .select({
      team: columnsOf(teams, "t"),
      org: columnsOf(users, "o"),
      isInOrg: flagColumn(isMemberOf(orgId, actorId), "is_in_org"),
      isInTeam: flagColumn(isInTeam, "is_in_team"),
      isOwner: flagColumn(isOwnerOf(orgId, actorId), "is_owner"),
    })
    .from(teams)
    .innerJoin(users, eq(users.id, teams.orgId))
    .where(eq(teams.id, teamId));
}

/**
 * Selects a page of the teams that match a condition, with their organizations, and the total.
 *
 * @param isFirst The condition that a team precedes others; the rest of the order is by name.
 */
export function selectTeamPage(
  db: Database,
  isListed: SQL,
  { size, offset }: Params<{ size: number; offset: number }>,
  isFirst?: SQL,
) {
  const rows = db
    .select({ team: columnsOf(teams, "t"), org: columnsOf(users, "o") })
    .from(teams)
    .innerJoin(users, eq(users.id, teams.orgId))
    .where(isListed)
    .orderBy(...(isFirst ? [desc(isFirst)] : []), asc(teams.lowerName), asc(teams.id));
  const counted = db
    .select({ total: count().as("total") })
    .from(teams)
    .innerJoin(users, eq(users.id, teams.orgId))
    .where(isListed);
  return { rows: rows.limit(size).offset(offset), counted };
}

/** The condition that a team belongs to an organization, in a query over `teams`. */
export const isTeamOf = (orgId: number | SQL): SQL => eq(teams.orgId, orgId);

/** The condition that a team is that of the owners, in a query over `teams`. */
export const isOwnersTeam: SQL = sql`(${teams.access} = ${sql.raw(String(ACCESS.owner))})`;

/** The condition that a user is a member of the team, in a query over `teams`. */
export const isOwnTeam = (userId: number | SQL): SQL => sql`${teams.id} in (
  select ${teamMembers.teamId} from ${teamMembers} where ${teamMembers.userId} = ${userId}
)`;

/** A repository's id and that of its owner: values, or parameters of a query. */
interface RepositoryIds {
  readonly id: number | SQL;
  readonly ownerId: number | SQL;
}

/**
 * The condition that a team of the repository's owner reaches the repository, in a query over
 * `teams`.
 */
export const isTeamOfRepository = ({ id, ownerId }: RepositoryIds): SQL =>
  allOf(
    eq(teams.orgId, ownerId),
    sql`${teams.id} in (
      select ${teamRepositories.teamId} from ${teamRepositories}
      where ${teamRepositories.repoId} = ${id}
      union all select ${wholeTeams.id} from ${teams} ${wholeTeams}
      where ${wholeTeams.orgId} = ${ownerId} and ${wholeTeams.includesAllRepositories}
    )`,
  );

const wholeTeams = alias(teams, "whole_team");

/** The condition that a team is named so, in any case. */
const isTeamNamed = (name: string | SQL): SQL => eq(teams.lowerName, lowered(name));

/** Selects the id of the team of an organization that is named so. */
export const idOfTeam = (orgId: number | SQL, name: string | SQL): SQL<number> => sql<number>`(
  select ${teams.id} from ${teams} where ${isTeamOf(orgId)} and ${isTeamNamed(name)}
)`;

/** The condition that a team's name, or its description, contains a text. */
export function isTeamMatching(text: string | SQL, includesDescription: boolean): SQL {
  const isNamed = sql`instr(${teams.lowerName}, ${lowered(text)}) > 0`;
  const isDescribed = sql`instr(lower(${teams.description}), ${lowered(text)}) > 0`;
  return anyOf(isNamed, includesDescription ? isDescribed : undefined);
}

/** Selects a team of a repository's owner by name, and whether it reaches the repository. */
export const selectTeamForRepository = (db: Database, repo: RepositoryIds, name: string | SQL) =>
  db
    .select({
      team: columnsOf(teams, "t"),
      isReaching: flagColumn(isTeamOfRepository(repo), "is_reaching"),
    })
    .from(teams)
    .where(allOf(eq(teams.orgId, repo.ownerId), isTeamNamed(name)));

/** Selects whether a user is a member of the organization that owns a repository. */
export const selectMembershipForRepository = (
  db: Database,
  { ownerId }: Pick<RepositoryIds, "ownerId">,
  userId: number | SQL | undefined,
) =>
  db
    .select({
      isMember: flagColumn(isMemberOf(sql`${users.id}`, sql`${userId ?? null}`), "is_member"),
    })
    .from(users)
    .where(eq(users.id, ownerId));

/** Selects the lower-case names of teams in organizations that a user belongs to. */
export const selectTeamNames = (db: Database, isNamed: SQL, memberId: number | null | SQL) =>
  db
    .select({ org: sql<string>`${users.lowerName}`.as("org"), team: teams.lowerName })
    .from(teams)
    .innerJoin(users, eq(users.id, teams.orgId))
    .innerJoin(organizationMembers, eq(organizationMembers.orgId, teams.orgId))
    .where(sql`${isNamed} and ${organizationMembers.userId} = ${memberId}`);

/** The condition that a user is a member of a team. */
export const isInTeam = (teamId: number | SQL, userId: number | SQL): SQL => sql`exists (
  select 1 from ${teamMembers}
  where ${teamMembers.teamId} = ${teamId} and ${teamMembers.userId} = ${userId}
)`;

/**
 * Selects the ids of the teams of an organization that a user is in. It begins with the user's
 * teams, of which there are few, and not with all of the organization.
 */
export const teamIdsOf = (orgId: SQL, userId: SQL): SQL => sql`(
  select ${teams.id} as id
  from ${teamMembers} cross join ${teams} on ${teams.id} = ${teamMembers.teamId}
  where ${teamMembers.userId} = ${userId} and ${teams.orgId} = ${orgId}
)`;

/**
 * The condition that a team is one of some, by id or by name, in a query over `teams`.
 *
 * @param ids        Selects the ids.
 * @param lowerNames Selects the names in lower case.
 */
export const isTeamAmong = (ids: SQL, lowerNames?: SQL): SQL =>
  anyOf(sql`${teams.id} in ${ids}`, lowerNames && sql`${teams.lowerName} in ${lowerNames}`);

/**
 * Selects those of some teams that an organization has, and whether a condition on `teams` holds
 * for each.
 */
export const selectTeamsHolding = (
  db: Database,
  orgId: number | SQL,
  isSelected: SQL,
  condition: SQL,
) =>
  db
    .select({ id: teams.id, name: teams.name, holds: flagColumn(condition, "holds") })
    .from(teams)
    .where(allOf(eq(teams.orgId, orgId), isSelected))
    .orderBy(asc(teams.id));

/** Selects the ids of a team's members. */
export const teamMemberIds = (teamId: number | SQL): SQL => sql`(
  select ${teamMembers.userId} from ${teamMembers} where ${teamMembers.teamId} = ${teamId}
)`;

/**
 * Selects the id of an organization's team by name; none for callers outside of the organization,
 * who know of no teams.
 */
export const teamIdSeenBy = (
  { userId, isSiteAdmin }: PrincipalSql,
  orgId: SQL,
  name: string | SQL,
): SQL => sql`(
  select ${teams.id} from ${teams}
  where ${teams.orgId} = ${orgId}
    and ${isTeamNamed(name)}
    and ${isSiteAdmin ? sql`1` : isMemberOf(orgId, sql`${userId ?? null}`)}
)`;

/** Selects teams by a query for their ids, whether or not the caller may see them. */
export const selectTeams = (db: Database, ids: SQL) =>
  db
    .select()
    .from(teams)
    .where(sql`${teams.id} in (${ids})`);
