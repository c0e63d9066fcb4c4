import { eq, ne, sql, type SQL } from "drizzle-orm";

import { allOf, anyOf, type Database } from "../../db/db.ts";
import { issueAssignees, issues, repositories, teams, type Unit } from "../../db/schema/index.ts";
import { isGranted, isVisibleWithoutGrant } from "./grants.ts";
import { teamGrants } from "./team-modes.ts";

/** The users who may have lost access, and the repositories that it concerns. */
interface LostAccess {
  /** A list of ids, in parentheses. */
  userIds: SQL;
  /** One repository; all of the owner's, if missing. */
  repoId?: number;
  ownerId: number;
  /** A team that is about to be deleted, whose grants count no more. */
  exceptTeamId?: number;
}

/**
 * Takes issues and pull requests of an owner's repositories from assignees who may not read them
 * any more. As in Gitea, their timelines do not show it.
 *
 * Follows the statements that take the access away, in their batch. Cost: the assignments of the
 * users.
 */
export function deleteLostAssignments(
  db: Database,
  { userIds, repoId, ownerId, exceptTeamId }: LostAccess,
) {
  const userId = sql`${issueAssignees.userId}`;
  const mayRead = (unit: Unit): SQL => {
    const isEnough = allOf(
      teamGrants({ unit, mode: "read" }),
      exceptTeamId === undefined ? undefined : ne(teams.id, exceptTeamId),
    );
    return isGranted(userId, { unit, mode: "read" }, isEnough);
  };
  const isLost = sql`exists (
    select 1
    from ${repositories}
    join ${issues} on ${issues.id} = ${issueAssignees.issueId}
    where ${repositories.id} = ${issueAssignees.repoId}
      and ${repositories.ownerId} = ${ownerId}
      and not ${anyOf(
        isVisibleWithoutGrant(userId),
        sql`case when ${issues.isPull} then ${mayRead("pulls")} else ${mayRead("issues")} end`,
      )}
  )`;
  const isConcerned = repoId === undefined ? undefined : eq(issueAssignees.repoId, repoId);
  return db.delete(issueAssignees).where(allOf(sql`${userId} in ${userIds}`, isConcerned, isLost));
}
