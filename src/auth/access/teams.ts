import { asc, count, eq, sql, type SQL } from "drizzle-orm";

import { columnsOf, flagColumn, type Database } from "../../db/db.ts";
import { organizationMembers, teamMembers, teams, users } from "../../db/schema/index.ts";
import { isMemberOf, isOwnerOf } from "./organizations.ts";

/** Selects a team with its organization and a user's roles in both. */
export function selectTeam(db: Database, teamId: number, userId: number | undefined) {
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

/** Selects a page of an organization's teams, ordered by name, and their total count. */
export function selectTeamPage(
  db: Database,
  orgId: number,
  { size, offset }: { size: number; offset: number },
) {
  const isListed = eq(teams.orgId, orgId);
  const page = db.select().from(teams).where(isListed).orderBy(asc(teams.lowerName));
  const counted = db
    .select({ total: count().as("total") })
    .from(teams)
    .where(isListed);
  return [page.limit(size).offset(offset), counted] as const;
}

/** Selects the lower-case names of teams in organizations that a user belongs to. */
export const selectTeamNames = (db: Database, isNamed: SQL, memberId: number | null) =>
  db
    .select({ org: sql<string>`${users.lowerName}`.as("org"), team: teams.lowerName })
    .from(teams)
    .innerJoin(users, eq(users.id, teams.orgId))
    .innerJoin(organizationMembers, eq(organizationMembers.orgId, teams.orgId))
    .where(sql`${isNamed} and ${organizationMembers.userId} = ${memberId}`);

/** Selects the ids of a team's members. */
export const teamMemberIds = (teamId: number): SQL => sql`(
  select ${teamMembers.userId} from ${teamMembers} where ${teamMembers.teamId} = ${teamId}
)`;
