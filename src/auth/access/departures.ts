import { eq, sql, type SQL } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import { flagColumn, type Database } from "../../db/db.ts";
import { collaborations, organizationMembers, teamMembers, teams } from "../../db/schema/index.ts";
import { isOnlyOwner } from "./organizations.ts";

const own = alias(organizationMembers, "own");

// Statements with which an account that is being deleted leaves organizations, teams and
// repositories.

/** Whether a user belongs to an organization. */
export const isMemberAnywhere = (userId: number | SQL): SQL => sql`exists (
  select 1 from ${organizationMembers} ${own} where ${own.userId} = ${userId}
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

/** Deletes some of the rows that grant access to an account, or through its teams to others. */
export function deleteSomeGrants(db: Database, accountId: number, rowsMax: number) {
  const some = (ids: SQL) => sql`rowid in (${ids} limit ${rowsMax})`;
  return [
    db
      .delete(collaborations)
      .where(
        some(
          sql`select rowid from ${collaborations} where ${collaborations.userId} = ${accountId}`,
        ),
      ),
    db.delete(teamMembers).where(
      some(sql`
        select ${teamMembers}.rowid
        from ${teams}
        join ${teamMembers} on ${teamMembers.teamId} = ${teams.id}
        where ${teams.orgId} = ${accountId}`),
    ),
    db.delete(organizationMembers).where(
      some(sql`
          select rowid from ${organizationMembers} where ${organizationMembers.orgId} = ${accountId}
        `),
    ),
  ] as const;
}
