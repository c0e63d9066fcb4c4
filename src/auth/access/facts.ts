import { sql, type SQL } from "drizzle-orm";

import { flagColumn } from "../../db/db.ts";
import {
  collaborations,
  repositories,
  teamMembers,
  teams,
  type Access,
  type TeamUnits,
} from "../../db/schema/index.ts";
import { isInBoundToken, type ReachFacts } from "./credential-reach.ts";
import { isOwnedByOrganizationOf } from "./grants.ts";
import { reachesRepository } from "./team-modes.ts";

/** What the database knows of one caller and one repository; `resolvePermission` decides what it means. */
export interface AccessFacts extends ReachFacts {
  /** The mode of the caller's collaboration, 0 for none. */
  collaboratorAccess: number;
  /** What the caller's teams give there, each combination once. */
  teamGrants: readonly TeamGrant[];
  isOrganizationMember: boolean;
}

/** What one team gives. */
export interface TeamGrant {
  readonly access: Access;
  readonly units: TeamUnits;
}

/** SQL for the facts of each repository of a query, to be selected beside it. */
export function accessFacts(who: { actorId: SQL; boundTokenId: SQL }): {
  [K in keyof AccessFacts]: SQL.Aliased<AccessFacts[K]>;
} {
  return {
    collaboratorAccess: sql<number>`coalesce((
      select ${collaborations.access} from ${collaborations}
      where ${collaborations.repoId} = ${repositories.id}
        and ${collaborations.userId} = ${who.actorId}
    ), 0)`.as("collaborator_access"),
    teamGrants: sql`(
      select '[' || coalesce(group_concat(distinct ${grant}), '') || ']'
      from ${teamMembers} join ${teams} on ${teams.id} = ${teamMembers.teamId}
      where ${teamMembers.userId} = ${who.actorId} and ${teams.orgId} = ${repositories.ownerId}
        and ${reachesRepository}
    )`
      .mapWith(readTeamGrants)
      .as("team_grants"),
    isOrganizationMember: flagColumn(
      isOwnedByOrganizationOf(who.actorId),
      "is_organization_member",
    ),
    isInBoundToken: flagColumn(isInBoundToken(who.boundTokenId), "is_in_bound_token"),
  };
}

const grant = sql`json_object('access', ${teams.access}, 'units', json(${teams.units}))`;

const readTeamGrants = (text: string): TeamGrant[] => JSON.parse(text) as TeamGrant[];
