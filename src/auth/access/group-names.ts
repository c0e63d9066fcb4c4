import { asc, eq, sql, type SQL } from "drizzle-orm";

import type { Database } from "../../db/db.ts";
import { organizationMembers, teamMembers, teams, users } from "../../db/schema/index.ts";

/** Maximum number of names that each of the two queries of `selectGroupNames` reads. */
const NAMES_MAX = 1000;

/**
 * Selects the names of a user's organizations, and those of their teams as `organization:team`.
 *
 * @param isPublicOnly Leaves out organizations that are not public.
 */
export function selectGroupNames(db: Database, userId: number | SQL, isPublicOnly: boolean) {
  const isShown = sql`(${users.visibility} = 'public' or ${isPublicOnly ? 0 : 1})`;
  const organizations = db
    .select({ name: users.name })
    .from(organizationMembers)
    .innerJoin(users, eq(users.id, organizationMembers.orgId))
    .where(sql`${organizationMembers.userId} = ${userId} and ${isShown}`)
    .orderBy(asc(users.lowerName))
    .limit(NAMES_MAX);
  const ofTeams = db
    .select({ name: sql<string>`${users.name} || ':' || ${teams.lowerName}`.as("name") })
    .from(teamMembers)
    .innerJoin(teams, eq(teams.id, teamMembers.teamId))
    .innerJoin(users, eq(users.id, teams.orgId))
    .where(sql`${teamMembers.userId} = ${userId} and ${isShown}`)
    .orderBy(asc(users.lowerName), asc(teams.lowerName))
    .limit(NAMES_MAX);
  return { organizations, ofTeams };
}
