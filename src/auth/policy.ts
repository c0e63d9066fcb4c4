import { eq, or, sql, type SQL } from "drizzle-orm";

import { allOf, anyOf, flagColumn } from "../db/db.ts";

import {
  ACCESS,
  accessTokenRepositories,
  collaborations,
  organizationMembers,
  repositories,
  teamMembers,
  teamRepositories,
  teams,
  users,
  type Access,
  type Repository,
  type User,
} from "../db/schema/index.ts";
import { boundTokenId, seesPublicOnly, type Actor } from "./actor.ts";

/** What the database knows of one caller and one repository; the policy decides what it means. */
export interface AccessFacts {
  /** The role given to the caller by name, 0 for none. */
  collaboratorAccess: number;
  /** The most that a team of the caller's gives, 0 for none. */
  teamAccess: number;
  isOrganizationMember: boolean;
  /** Whether the caller's token is bound to repositories and this is one of them. */
  isInBoundToken: boolean;
}

/** SQL for the facts of each repository of a query, to be selected beside it. */
export function accessFacts(who: { actorId: SQL; boundTokenId: SQL }): {
  [K in keyof AccessFacts]: SQL.Aliased<AccessFacts[K]>;
} {
  return {
    collaboratorAccess:
      sql<number>`coalesce((select ${collaborations.access} from ${collaborations} where ${collaborations.repoId} = ${repositories.id} and ${collaborations.userId} = ${who.actorId}), 0)`.as(
        "collaborator_access",
      ),
    teamAccess:
      sql<number>`coalesce((select max(${teams.access}) from ${teamMembers} join ${teams} on ${teams.id} = ${teamMembers.teamId} where ${teamMembers.userId} = ${who.actorId} and ${teams.orgId} = ${repositories.ownerId} and ${reachesRepository}), 0)`.as(
        "team_access",
      ),
    isOrganizationMember: flagColumn(
      sql`exists (select 1 from ${organizationMembers} where ${organizationMembers.orgId} = ${repositories.ownerId} and ${organizationMembers.userId} = ${who.actorId})`,
      "is_organization_member",
    ),
    isInBoundToken: flagColumn(
      sql`exists (select 1 from ${accessTokenRepositories} where ${accessTokenRepositories.tokenId} = ${who.boundTokenId} and ${accessTokenRepositories.repoId} = ${repositories.id})`,
      "is_in_bound_token",
    ),
  };
}

const reachesRepository = sql`(${teams.includesAllRepositories} or exists (select 1 from ${teamRepositories} where ${teamRepositories.teamId} = ${teams.id} and ${teamRepositories.repoId} = ${repositories.id}))`;

/**
 * What the caller may do in a repository: 0 where it does not exist for them.
 *
 * The role comes first, then the credential narrows it: a token never gives more than its user has.
 */
export function judgeRepository(actor: Actor, repo: Repository, facts: AccessFacts): Access {
  if (seesPublicOnly(actor) && repo.visibility !== "public") return ACCESS.none;
  if (boundTokenId(actor) !== undefined && !facts.isInBoundToken) return ACCESS.none;
  return Math.max(
    grantedAccess(actor, repo, facts),
    isOpenTo(actor, repo, facts) ? ACCESS.read : ACCESS.none,
  ) as Access;
}

function grantedAccess(actor: Actor, repo: Repository, facts: AccessFacts): number {
  if (!actor.user) return ACCESS.none;
  if (actor.isSiteAdmin || repo.ownerId === actor.user.id) return ACCESS.owner;
  return Math.max(facts.collaboratorAccess, facts.teamAccess);
}

function isOpenTo(actor: Actor, repo: Repository, facts: AccessFacts): boolean {
  // Restricted users see what they were given, nothing else.
  if (actor.user?.isRestricted) return !repo.isPrivate && facts.isOrganizationMember;
  if (repo.visibility === "public") return true;
  if (repo.visibility === "limited") return actor.user !== undefined;
  return !repo.isPrivate && facts.isOrganizationMember;
}

/** Whether everything public is there for the caller: not for restricted users, nor for bound tokens. */
export function seesOpenThings(actor: Actor): boolean {
  return boundTokenId(actor) === undefined && (actor.isSiteAdmin || !actor.user?.isRestricted);
}

/** The visibilities that `actor` sees without being given anything, for lists that walk an index. */
export function openVisibilities(actor: Actor): ("public" | "limited" | "private")[] {
  if (actor.isSiteAdmin) return ["public", "limited", "private"];
  if (actor.user?.isRestricted) return [];
  if (seesPublicOnly(actor)) return ["public"];
  return ["public", "limited"];
}

/**
 * The same rule as `judgeRepository`, as a condition on each repository of a query.
 *
 * A test holds the two together over every combination.
 */
export function isRepositoryVisible(actor: Actor): SQL {
  const tokenId = boundTokenId(actor);
  const isBound =
    tokenId === undefined
      ? undefined
      : sql`exists (select 1 from ${accessTokenRepositories} where ${accessTokenRepositories.tokenId} = ${tokenId} and ${accessTokenRepositories.repoId} = ${repositories.id})`;

  return allOf(isBound, isRepositoryOpen(actor));
}

function isRepositoryOpen(actor: Actor): SQL {
  if (actor.isSiteAdmin) return sql`1`;
  const userId = actor.user?.id;
  const isPublic = eq(repositories.visibility, "public");
  if (userId === undefined) return isPublic;

  const isGiven = or(
    eq(repositories.ownerId, userId),
    sql`exists (select 1 from ${collaborations} where ${collaborations.repoId} = ${repositories.id} and ${collaborations.userId} = ${userId})`,
    sql`exists (select 1 from ${teamMembers} join ${teams} on ${teams.id} = ${teamMembers.teamId} where ${teamMembers.userId} = ${userId} and ${teams.orgId} = ${repositories.ownerId} and ${teams.access} > 0 and ${reachesRepository})`,
    sql`(${repositories.isPrivate} = 0 and exists (select 1 from ${organizationMembers} where ${organizationMembers.orgId} = ${repositories.ownerId} and ${organizationMembers.userId} = ${userId}))`,
  );
  if (actor.scopes.isPublicOnly) {
    return actor.user?.isRestricted ? allOf(isPublic, isGiven) : isPublic;
  }
  if (actor.user?.isRestricted) return isGiven as SQL;
  return anyOf(isPublic, eq(repositories.visibility, "limited"), isGiven);
}

/** Whether `account` exists for the caller. */
export function seesAccount(actor: Actor, account: User, isMember: boolean): boolean {
  if (account.visibility === "public") return true;
  if (seesPublicOnly(actor)) return false;
  if (actor.isSiteAdmin || actor.user?.id === account.id || isMember) return true;
  return account.visibility === "limited" && !actor.user?.isRestricted;
}

/** The same rule as `seesAccount`, as a condition on each account of a query. */
export function isAccountVisible(actor: Actor): SQL {
  if (actor.isSiteAdmin) return sql`1`;
  const isPublic = eq(users.visibility, "public");
  const userId = actor.user?.id;
  if (userId === undefined || seesPublicOnly(actor)) return isPublic;
  return anyOf(
    isPublic,
    eq(users.id, userId),
    actor.user?.isRestricted ? undefined : eq(users.visibility, "limited"),
    sql`exists (select 1 from ${organizationMembers} where ${organizationMembers.orgId} = ${users.id} and ${organizationMembers.userId} = ${userId})`,
  );
}
