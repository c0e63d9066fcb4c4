import { sql, type SQL } from "drizzle-orm";

import { isAccountVisible } from "../../../auth/access/accounts.ts";
import { isBlockBetween, isBlockedBy } from "../../../auth/access/blocks.ts";
import { eligibleUserIds, reaches } from "../../../auth/access/people.ts";
import { isAllowed } from "../../../auth/access/permission.ts";
import { seesTeamsOf, selectTeamsNamed } from "../../../auth/access/reviewing-teams.ts";
import { isTeamOfRepository } from "../../../auth/access/teams.ts";
import { principalOf } from "../../../auth/principal.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { allOf, anyOf, columnsOf, flagColumn } from "../../../db/db.ts";
import { emailAddresses, users, type Team, type User } from "../../../db/schema/index.ts";
import { forbidden, invalid, notFound } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { findOfficialReviewers, type ReviewerIds } from "../../code/protections/official.ts";

/** Maximum users, and teams, that one request names. */
export const REVIEWERS_MAX = 100;

/**
 * The users, by name or email address, and the teams, by name, that a request asks for a review.
 */
export interface ReviewerNames {
  readonly users?: readonly string[] | undefined;
  readonly teams?: readonly string[] | undefined;
}

/** Users and teams to ask for a review, each once. */
export interface Reviewers {
  readonly users: readonly User[];
  readonly teams: readonly Team[];
  /** The reviewers whose reviews count for the rule that protects the base. */
  readonly official: ReviewerIds;
  /** Whether they are asked as owners of code. */
  readonly areOwners: boolean;
}

/** The pull request that reviews are asked for, which may not be stored yet. */
interface AskedFor {
  readonly repo: RepositoryContext;
  /** Null for a deleted account. */
  readonly posterId: number | null;
  readonly baseBranch: string;
}

/**
 * Finds the requested reviewers of a pull request, in the order of their names.
 *
 * @param loaded The result of `loadNames`, if the names are loaded already.
 * @throws Failure `not_found` for a name without a user or team that the caller may see;
 * `invalid` for the poster, for users who can't read pull requests of the repository, and for
 * callers who may not choose reviewers; `forbidden` where a block separates a user from the owner,
 * the poster or the caller.
 */
export async function findReviewers(
  ctx: Ctx,
  pull: AskedFor,
  names: ReviewerNames,
  loaded?: LoadedNames,
): Promise<Reviewers> {
  const { repo, posterId, baseBranch } = pull;
  const found = await findNamed(ctx, pull, names, loaded);
  for (const { user, isReading, isBlocked } of found.users) {
    const subject = `[user_id: ${user.id}, repo_id: ${repo.row.id}]`;
    if (user.kind !== "user") throw invalid(`Organization can't be added as reviewer ${subject}`);
    if (!isReading) throw invalid(`Reviewer can't read ${subject}`);
    if (user.id === posterId) throw invalid(`poster of pr can't be reviewer ${subject}`);
    if (!found.mayChoose) throw invalid(`Doer can't choose reviewer ${subject}`);
    if (isBlocked) throw forbidden("user is blocked");
  }
  const [team] = found.teams;
  if (team && !found.mayChoose) {
    throw invalid(`Doer can't choose reviewer [team_id: ${team.id}, repo_id: ${repo.row.id}]`);
  }
  const people = found.users.map(({ user }) => user);
  const official = await findOfficialReviewers(ctx, repo, baseBranch, toIds(people, found.teams));
  return { users: people, teams: found.teams, official, areOwners: false };
}

/**
 * Finds those whom the caller asks no more.
 *
 * @throws Failure `not_found` as `findReviewers`; `invalid` for callers who may not choose
 * reviewers, except that they may name themselves.
 */
export async function findAskedReviewers(
  ctx: Ctx,
  pull: AskedFor,
  names: ReviewerNames,
  loaded?: LoadedNames,
): Promise<Pick<Reviewers, "users" | "teams">> {
  const { users: named, teams, mayChoose } = await findNamed(ctx, pull, names, loaded);
  const found = named.map(({ user }) => user);
  if (!mayChoose) {
    const repoId = pull.repo.row.id;
    const other = found.find(({ id }) => id !== ctx.actor.user?.id);
    if (other)
      throw invalid(`Doer can't remove reviewer [user_id: ${other.id}, repo_id: ${repoId}]`);
    const [team] = teams;
    if (team) throw invalid(`Doer can't remove reviewer [team_id: ${team.id}, repo_id: ${repoId}]`);
  }
  return { users: found, teams };
}

/** The ids of users and teams. */
export const toIds = (
  people: readonly Pick<User, "id">[],
  teams: readonly Pick<Team, "id">[],
): ReviewerIds => ({
  userIds: people.map(({ id }) => id),
  teamIds: teams.map(({ id }) => id),
});

/**
 * Finds the code owners who can review a pull request. Skips its poster, users who can't read it,
 * and unknown names.
 */
export async function findCodeOwners(
  ctx: Ctx,
  pull: AskedFor,
  names: ReviewerNames,
): Promise<Reviewers> {
  const { repo, baseBranch, posterId } = pull;
  const found = await loadNamed(ctx, repo, sql`${posterId}`, names, sql`1`);
  const people = found.users.flatMap(({ user, isReading, isBlocked }) =>
    user.kind === "user" && isReading && !isBlocked && user.id !== posterId ? [user] : [],
  );
  const { teams } = found;
  const official = await findOfficialReviewers(ctx, repo, baseBranch, toIds(people, teams));
  return { users: people, teams, official, areOwners: true };
}

interface NamedUser {
  readonly user: User;
  /** The address, in lower case; null if it is hidden from the caller. */
  readonly email: string | null;
  /** Whether the user may read the pull requests of the repository. */
  readonly isReading: boolean;
  readonly isBlocked: boolean;
}

/** Users and teams by their names, as they are read before the pull request is known. */
export interface LoadedNames {
  readonly users: NamedUser[];
  readonly teams: Team[];
  /** Whether the caller has a role in the repository. */
  readonly isEligible: boolean;
}

interface Named extends Omit<LoadedNames, "isEligible"> {
  /** Whether the caller may choose who is asked. */
  readonly mayChoose: boolean;
}

/**
 * Reads the users and teams that a request names, for `findReviewers` and `findAskedReviewers`.
 *
 * @param posterId Of the pull request.
 */
export const loadNames = (
  ctx: Ctx,
  repo: RepositoryContext,
  posterId: SQL,
  names: ReviewerNames,
): Promise<LoadedNames> =>
  // SECURITY: teams are known to members of their organization; those of the repository also to
  // its administrators.
  loadNamed(
    ctx,
    repo,
    posterId,
    names,
    anyOf(
      seesTeamsOf(ctx.actor, repo.row.ownerId),
      isAllowed(repo, { mode: "admin" }) ? isTeamOfRepository(repo.row) : undefined,
    ),
  );

/**
 * Finds users and teams in the order of their names. @throws Failure `not_found` for a name without
 * one.
 */
async function findNamed(
  ctx: Ctx,
  { repo, posterId }: AskedFor,
  names: ReviewerNames,
  loaded?: LoadedNames,
): Promise<Named> {
  const found = loaded ?? (await loadNames(ctx, repo, sql`${posterId}`, names));
  const byName = new Map(found.users.map((each) => [each.user.lowerName, each]));
  const byEmail = new Map(found.users.map((each) => [each.email, each]));
  const teamsByName = new Map(found.teams.map((each) => [each.lowerName, each]));
  const isPoster = posterId !== null && posterId === ctx.actor.user?.id;
  return {
    users: pick(lowerNames(names.users), (name) => byName.get(name) ?? byEmail.get(name), "User"),
    teams: pick(lowerNames(names.teams), (name) => teamsByName.get(name), "Team"),
    mayChoose: isPoster || isAllowed(repo, { mode: "admin" }) || found.isEligible,
  };
}

/** @param isTeamKnown The condition that the caller may know of a team. */
async function loadNamed(
  ctx: Ctx,
  repo: RepositoryContext,
  posterId: SQL,
  names: ReviewerNames,
  isTeamKnown: SQL,
): Promise<LoadedNames> {
  const userNames = lowerNames(names.users);
  const teamNames = lowerNames(names.teams);
  if (userNames.length === 0 && teamNames.length === 0) {
    return { users: [], teams: [], isEligible: false };
  }
  const { db, actor } = ctx;
  const { row } = repo;
  const callerId = sql`${actor.user?.id ?? null}`;
  const userId = sql`${users.id}`;
  const eligible = eligibleUserIds(row, "read", ["pulls"]);
  const email = emailOf(callerId);
  const blocked = anyOf(
    isBlockedBy(userId, sql`${row.ownerId}`, posterId),
    isBlockBetween(userId, callerId),
  );
  const { people, teams, caller } = await batch(db, {
    people: db
      .select({
        user: columnsOf(users, "u"),
        email: sql<string | null>`${email}`.as("shown_email"),
        isReading: flagColumn(reaches(userId, row, { unit: "pulls", mode: "read" }), "is_reading"),
        isBlocked: flagColumn(sql`(${blocked})`, "is_blocked"),
      })
      .from(users)
      .where(
        allOf(
          anyOf(isOneOf(sql`${users.lowerName}`, userNames), isOneOf(email, userNames)),
          // SECURITY: an account that is hidden from the caller is known by its role in the
          // repository only.
          sql`(${isAccountVisible(principalOf(actor))} or ${userId} in ${eligible})`,
        ),
      ),
    teams: selectTeamsNamed(db, row.ownerId, teamNames, isTeamKnown),
    caller: db
      .select({ isEligible: flagColumn(sql`${callerId} in ${eligible}`, "is_eligible") })
      .from(users)
      .where(sql`${users.id} = ${callerId}`),
  });
  return { users: people, teams, isEligible: caller[0]?.isEligible === true };
}

const lowerNames = (names: readonly string[] = []): string[] =>
  names.map((name) => name.toLowerCase());

const isOneOf = (text: SQL, names: readonly string[]): SQL =>
  sql`${text} in (select value from json_each(${JSON.stringify(names)}))`;

/**
 * The primary address of a row of `users`, in lower case.
 *
 * SECURITY: null for an address that its user hides from the caller: finding the account would
 * reveal who has the address.
 */
const emailOf = (callerId: SQL): SQL => sql`(
  select ${emailAddresses.lowerEmail}
  from ${emailAddresses}
  where ${emailAddresses.userId} = ${users.id} and ${emailAddresses.isPrimary}
    and ${emailAddresses.isActivated}
    and (not ${users.isEmailHidden} or ${users.id} = ${callerId})
)`;

/** Finds each name, without duplicates. @throws Failure `not_found` for an unknown name. */
function pick<T>(
  names: readonly string[],
  find: (name: string) => T | undefined,
  what: string,
): T[] {
  const found = names.map((name) => {
    const one = find(name);
    if (!one) throw notFound(`${what} '${name}' not exist`);
    return one;
  });
  return [...new Set(found)];
}
