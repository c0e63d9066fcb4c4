import { sql, type SQL } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import { anyOf } from "../../db/db.ts";
import {
  ACCESS,
  collaborations,
  organizationMembers,
  repositories,
  teamMembers,
  teamRepositories,
  teams,
  users,
  type Repository,
  type Unit,
} from "../../db/schema/index.ts";
import type { Requirement } from "./requirement.ts";
import { teamGrants } from "./team-modes.ts";
import { recipientUserIds } from "./transfers.ts";
import { isUnitOn } from "./unit-switches.ts";

const reader = alias(users, "reader");

/**
 * The condition, on a user id of a query, that the user has the required permission in one
 * repository.
 *
 * The same rule as `resolvePermission` for a credential without restrictions. Users with a grant
 * are found by indexes, once for the whole query; for repositories that anybody may read, each
 * user's row is looked up.
 *
 * @param userId A column of the enclosing query.
 * @param repo   The repository's row, either as stored or as an edit is about to store it.
 */
export function reaches(userId: SQL, repo: Repository, requirement: Requirement): SQL {
  const reach = reachOf(repo, requirement);
  return reach ? reachesBy(userId, repo, reach) : sql`0`;
}

/** The facts that decide about the text of `reaches`, beside the ids of repository and owner. */
export interface Reach extends ReadableBy {
  readonly requirement: Requirement;
}

/** The reach of a permission in a repository; undefined if nobody has it. */
export function reachOf(repo: Repository, requirement: Requirement): Reach | undefined {
  const { unit, mode } = requirement;
  const isRead = mode === "read";
  if (unit !== undefined && !isUnitOn(repo, unit)) {
    return isRead ? { requirement: { mode: "admin" }, ...READABLE_BY_GRANTS } : undefined;
  }
  return {
    requirement,
    isReadableByAnybody: isRead && repo.visibility !== "private",
    isReadableByMembers: isRead && !repo.isPrivate,
  };
}

/**
 * The rule of `reaches` for writing to a unit that is on, which does not depend on who may read the
 * repository.
 */
export const reachesToWrite = (userId: SQL, repo: RepositoryIds, unit: Unit): SQL =>
  reachesBy(userId, repo, { requirement: { unit, mode: "write" }, ...READABLE_BY_GRANTS });

/** Who may read a repository without a grant. */
interface ReadableBy {
  readonly isReadableByAnybody: boolean;
  readonly isReadableByMembers: boolean;
}

const READABLE_BY_GRANTS: ReadableBy = { isReadableByAnybody: false, isReadableByMembers: false };

/** The condition of `reaches`, which a prepared query can have: `reach` belongs to its shape. */
export function reachesBy(
  userId: SQL,
  repo: RepositoryIds,
  { requirement, isReadableByAnybody, isReadableByMembers }: Reach,
): SQL {
  const isReader = isReadableByAnybody ? sql`not ${reader.isRestricted}` : sql`0`;
  return sql`(
    ${userId} in ${grantedUserIds(repo, requirement, isReadableByMembers)} or exists (
      select 1 from ${users} ${reader}
      where ${reader.id} = ${userId} and (${reader.isAdmin} or ${isReader})
    )
  )`;
}

/** A repository's id and that of its owner: values, or parameters of a query. */
interface RepositoryIds {
  readonly id: number | SQL;
  readonly ownerId: number | SQL;
}

/**
 * Selects the ids of users who may be given issues or pull requests of a repository: its owner,
 * collaborators with the required mode, and members of teams that may read one of the units there.
 *
 * As in Gitea, neither readers by visibility nor administrators of the site as such.
 */
export function eligibleUserIds(
  repo: RepositoryIds,
  mode: "read" | "write",
  units: readonly Unit[],
): SQL {
  const reads = anyOf(...units.map((unit) => teamGrants({ unit, mode: "read" })));
  return sql`(
    select ${users.id} from ${users}
    where ${users.id} = ${repo.ownerId} and ${users.kind} = 'user'
    union select ${collaborations.userId} from ${collaborations}
    where ${collaborations.repoId} = ${repo.id} and ${collaborations.access} >= ${ACCESS[mode]}
    union select ${teamMembers.userId}
    from ${teams} join ${teamMembers} on ${teamMembers.teamId} = ${teams.id}
    where ${teams.orgId} = ${repo.ownerId} and ${reads} and ${reachesThis(repo)}
  )`;
}

/**
 * Selects the ids of users who were granted the required permission in a repository: its owner,
 * collaborators, members of teams, members of the organization that owns it, and those it is
 * offered to. Excludes users who may read the repository only because of its visibility.
 */
function grantedUserIds(
  repo: RepositoryIds,
  requirement: Requirement,
  isReadableByMembers: boolean,
): SQL {
  const { mode } = requirement;
  const offered = sql`union ${recipientUserIds(repo.id)}`;
  const members = sql`
    union select ${organizationMembers.userId} from ${organizationMembers}
    where ${organizationMembers.orgId} = ${repo.ownerId}`;
  return sql`(
    select ${repositories.ownerId} from ${repositories} where ${repositories.id} = ${repo.id}
    union select ${collaborations.userId} from ${collaborations}
    where ${collaborations.repoId} = ${repo.id} and ${collaborations.access} >= ${ACCESS[mode]}
    union select ${teamMembers.userId}
    from ${teams} join ${teamMembers} on ${teamMembers.teamId} = ${teams.id}
    where ${teams.orgId} = ${repo.ownerId} and ${teamGrants(requirement)} and ${reachesThis(repo)}
    ${isReadableByMembers ? members : sql``}
    ${mode === "read" ? offered : sql``}
  )`;
}

const reachesThis = (repo: Pick<RepositoryIds, "id">): SQL => sql`(
  ${teams.includesAllRepositories} or exists (
    select 1 from ${teamRepositories}
    where ${teamRepositories.teamId} = ${teams.id} and ${teamRepositories.repoId} = ${repo.id}
  )
)`;
