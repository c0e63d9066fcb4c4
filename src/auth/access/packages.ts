import { sql, type SQL } from "drizzle-orm";

import { qualified } from "../../db/db.ts";
import {
  ACCESS,
  teamMembers,
  teams,
  users,
  type Access,
  type User,
} from "../../db/schema/index.ts";
import type { Actor } from "../actor.ts";
import { seesAccount } from "./accounts.ts";

/** Facts about a caller and an account that owns packages. */
export interface PackageFacts {
  readonly isMember: boolean;
  readonly isOwner: boolean;
  /**
   * The highest mode in which the caller's teams reach the packages of the organization; 0 without
   * one.
   */
  readonly teamAccess: number;
}

/**
 * The SQL column of `PackageFacts` that is no fact about organizations in general, for each account
 * of a query.
 */
export const teamPackageAccess = (actorId: SQL): SQL.Aliased<number> =>
  qualified<number>(sql`coalesce((
    select max(case
      when ${teams.access} >= ${sql.raw(String(ACCESS.admin))} then ${teams.access}
      else coalesce(${teams.units} ->> '$.packages', 0)
    end)
    from ${teamMembers} join ${teams} on ${teams.id} = ${teamMembers.teamId}
    where ${teams.orgId} = ${users.id} and ${teamMembers.userId} = ${actorId}
  ), 0)`).as("team_package_access");

/**
 * Resolves the caller's permission for the packages of an account: `read` for callers who see the
 * account, more for the user themselves, for owners of the organization and for its teams with the
 * unit.
 *
 * @see Gitea's conventions, 20.1.
 */
export function resolvePackageAccess(actor: Actor, owner: User, facts: PackageFacts): Access {
  if (!seesAccount(actor, owner, facts.isMember)) return ACCESS.none;
  if (actor.isSiteAdmin || actor.user?.id === owner.id || facts.isOwner) return ACCESS.owner;
  return actor.user ? (Math.max(ACCESS.read, facts.teamAccess) as Access) : ACCESS.read;
}
