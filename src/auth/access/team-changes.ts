import { and, eq, ne, sql, type SQL } from "drizzle-orm";

import { allOf, type Database } from "../../db/db.ts";
import { insertSelect } from "../../db/insert-select.ts";
import {
  ACCESS,
  repositories,
  teamMembers,
  teamRepositories,
  teams,
  watches,
  type Repository,
  type Team,
} from "../../db/schema/index.ts";
import { isReachedByTeam, teamRepositoryIds } from "./granted-repositories.ts";
import { isVisibleTo } from "./grants.ts";
import { TO_SEE } from "./requirement.ts";
import { reachesRepository, teamGrants } from "./team-modes.ts";

// Statements that change teams and the repositories they reach, for the batches of the operations
// in `domain`.

/** Creates a team. */
export const insertTeam = (db: Database, row: typeof teams.$inferInsert) =>
  db.insert(teams).values(row).returning();

/** Changes columns of a team. */
export const updateTeam = (db: Database, team: Team, columns: Partial<Team>) =>
  db.update(teams).set(columns).where(eq(teams.id, team.id)).returning();

/** Deletes a team with its memberships; never the team of owners. */
export const deleteTeamRow = (db: Database, team: Team) =>
  db
    .delete(teams)
    .where(and(eq(teams.id, team.id), ne(teams.access, ACCESS.owner)))
    .returning({ id: teams.id });

/** The condition that a team does not name a repository of its organization yet. */
export const canJoinTeam = (team: Team, repo: Repository): SQL => sql`exists (
  select 1 from ${repositories}
  where ${repositories.id} = ${repo.id} and ${repositories.ownerId} = ${team.orgId}
    and not ${isReachedByTeam(team.id, sql`${repositories.id}`)}
)`;

/** Adds a repository to a team of its owner. Idempotent. */
export const insertTeamRepository = (db: Database, team: Team, repo: Repository) =>
  insertSelect(
    db,
    teamRepositories,
    { teamId: team.id, repoId: repositories.id },
    sql`from ${repositories}
      where ${repositories.id} = ${repo.id} and ${repositories.ownerId} = ${team.orgId}`,
  ).onConflictDoNothing();

/** Removes a repository from a team. Idempotent. */
export const deleteTeamRepository = (db: Database, team: Team, repo: Repository) =>
  db
    .delete(teamRepositories)
    .where(and(eq(teamRepositories.teamId, team.id), eq(teamRepositories.repoId, repo.id)))
    .returning();

/**
 * Repositories that a new member of a team watches, and members who watch a new repository of it,
 * at most.
 */
const WATCHES_MAX = 1000;

/** A watch that somebody did not ask for. */
interface AutoWatch {
  team: Team;
  /** In milliseconds. */
  now: number;
  /** The condition that watches are made. */
  isOn: SQL;
}

/** Makes a user watch the repositories of a team, the newest if there are very many. */
export const insertWatchesOfMember = (
  db: Database,
  userId: number,
  { team, now, isOn }: AutoWatch,
) =>
  insertSelect(
    db,
    watches,
    { userId, repoId: repositories.id, visibility: repositories.visibility, createdAt: now },
    sql`from ${repositories}
      where ${repositories.id} in (${teamRepositoryIds(team.id)})
        and ${isOn}
        and ${isVisibleTo(sql`${userId}`)}
      order by ${repositories.id} desc
      limit ${WATCHES_MAX}`,
  ).onConflictDoNothing();

/** Makes the members of a team watch a repository. */
export const insertWatchesOfRepository = (
  db: Database,
  repoId: number,
  { team, now, isOn }: AutoWatch,
) =>
  insertSelect(
    db,
    watches,
    { userId: teamMembers.userId, repoId, visibility: repositories.visibility, createdAt: now },
    sql`from ${teamMembers} join ${repositories} on ${repositories.id} = ${repoId}
      where ${teamMembers.teamId} = ${team.id}
        and ${isOn}
        and ${isVisibleTo(sql`${teamMembers.userId}`)}
      limit ${WATCHES_MAX}`,
  ).onConflictDoNothing();

/** Makes the members of an owner's teams watch a repository that has become the owner's. */
export const insertWatchesOfNewOwner = (
  db: Database,
  repoId: number,
  orgId: number,
  { now, isOn }: Omit<AutoWatch, "team">,
) =>
  insertSelect(
    db,
    watches,
    { userId: teamMembers.userId, repoId, visibility: repositories.visibility, createdAt: now },
    sql`from ${teams}
      join ${teamMembers} on ${teamMembers.teamId} = ${teams.id}
      join ${repositories} on ${repositories.id} = ${repoId}
      where ${teams.orgId} = ${orgId}
        and ${reachesRepository}
        and ${isOn}
        and ${isVisibleTo(sql`${teamMembers.userId}`)}
      limit ${WATCHES_MAX}`,
  ).onConflictDoNothing();

/** The users whose watches a change of access may end, and the repositories that it concerns. */
interface LostWatches {
  orgId: number;
  /** A list of ids, in parentheses. */
  userIds: SQL;
  /** One repository; all of the organization's, if missing. */
  repoId?: number;
  /** A team that is about to be deleted, whose grants count no more. */
  exceptTeamId?: number;
}

/**
 * Ends watches of an organization's repositories by users who may not see these any more.
 *
 * Follows the statements that take the access away, in their batch. Cost: the watches of the users.
 */
export function deleteLostWatches(
  db: Database,
  { orgId, userIds, repoId, exceptTeamId }: LostWatches,
) {
  const isEnough = allOf(
    teamGrants(TO_SEE),
    exceptTeamId === undefined ? undefined : ne(teams.id, exceptTeamId),
  );
  const isLost = sql`exists (
    select 1 from ${repositories}
    where ${repositories.id} = ${watches.repoId} and ${repositories.ownerId} = ${orgId}
      and not ${isVisibleTo(sql`${watches.userId}`, isEnough)}
  )`;
  const isConcerned = repoId === undefined ? undefined : eq(watches.repoId, repoId);
  return db.delete(watches).where(allOf(sql`${watches.userId} in ${userIds}`, isConcerned, isLost));
}
