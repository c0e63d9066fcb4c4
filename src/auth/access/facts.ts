import { sql, type SQL } from "drizzle-orm";

import { flagColumn } from "../../db/db.ts";
import {
  ACCESS,
  accessTokens,
  collaborations,
  repositories,
  teamMembers,
  teams,
  type Access,
  type JobGrants,
} from "../../db/schema/index.ts";
import { isInBoundToken, type ReachFacts } from "./credential-reach.ts";
import { isOwnedByOrganizationOf } from "./grants.ts";
import { reachesRepository } from "./team-modes.ts";
import { pendingTransferTo } from "./transfers.ts";

/** Facts from the database about a caller and a repository, the input of `resolvePermission`. */
export interface AccessFacts extends ReachFacts {
  /** The access mode of the caller's collaboration, 0 without one. */
  collaboratorAccess: number;
  /**
   * The grants of the caller's teams in the repository, and of a job's token, each distinct grant
   * once.
   */
  teamGrants: readonly TeamGrant[];
  isOrganizationMember: boolean;
  /** To whom a pending transfer offers the repository; null without one. */
  pendingTransferTo: PendingTransferTo;
}

/**
 * Whether the caller may accept the pending transfer of a repository, or only others; null if none
 * is pending.
 */
type PendingTransferTo = "caller" | "other" | null;

/** The access that one team grants. */
export interface TeamGrant {
  readonly access: Access;
  readonly units: JobGrants;
}

/** SQL columns that hold the facts for each repository of a query. */
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
      select '[' || coalesce(group_concat(distinct granted), '') || ']' from (
        select ${grant} as granted
        from ${teamMembers} join ${teams} on ${teams.id} = ${teamMembers.teamId}
        where ${teamMembers.userId} = ${who.actorId} and ${teams.orgId} = ${repositories.ownerId}
          and ${reachesRepository}
        union all
        select json_object('access', ${ACCESS.none}, 'units', json(${accessTokens.grants}))
        from ${accessTokens}
        where ${accessTokens.id} = ${who.boundTokenId} and ${accessTokens.grants} is not null
          and ${isInBoundToken(who.boundTokenId)}
      )
    )`
      .mapWith(readTeamGrants)
      .as("team_grants"),
    isOrganizationMember: flagColumn(
      isOwnedByOrganizationOf(who.actorId),
      "is_organization_member",
    ),
    pendingTransferTo: sql<PendingTransferTo>`${pendingTransferTo(who.actorId)}`.as(
      "pending_transfer_to",
    ),
    isInBoundToken: flagColumn(isInBoundToken(who.boundTokenId), "is_in_bound_token"),
  };
}

const grant = sql`json_object('access', ${teams.access}, 'units', json(${teams.units}))`;

const readTeamGrants = (text: string): TeamGrant[] => JSON.parse(text) as TeamGrant[];
