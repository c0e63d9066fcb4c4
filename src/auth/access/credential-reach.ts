import { eq, sql, type SQL } from "drizzle-orm";

import { allOf } from "../../db/db.ts";
import { accessTokenRepositories, repositories, type Repository } from "../../db/schema/index.ts";
import type { Budget } from "../../git/budget.ts";
import { type ByteText, encodeText } from "../../git/byte-text.ts";
import { type Glob, matchGlob } from "../../git/glob/match-glob.ts";
import { parseWildmatch } from "../../git/glob/wildmatch.ts";
import { BeyondToken } from "../../lib/failure.ts";
import { boundTokenId, seesPublicOnly, type Actor } from "../actor.ts";
import type { PrincipalSql } from "../principal.ts";

// The restrictions that narrow a granted permission are in this file: those of a repository once
// for a row and once as SQL, and those of refs, paths and packages, which are no rows, by patterns
// in git's syntax for paths.
//
// Repositories and packages bind what a token reads and writes. Refs and paths bind what it writes:
// what it reads stays with its scopes and repositories.
//
// A further restriction, such as a block between accounts, is one more fact and one more condition
// here.

/** Facts from the database about a credential and a repository. */
export interface ReachFacts {
  /** Whether the caller's token is bound to this repository. */
  isInBoundToken: boolean;
}

/** Whether the caller's credential reaches a repository, whatever its user was granted there. */
export function isWithinReach(actor: Actor, repo: Repository, facts: ReachFacts): boolean {
  if (seesPublicOnly(actor) && repo.visibility !== "public") return false;
  return boundTokenId(actor) === undefined || facts.isInBoundToken;
}

/** The rule of `isWithinReach` as a condition on the `repositories` rows of a query. */
export function isWithinReachSql({ boundTokenId: tokenId, isPublicOnly }: PrincipalSql): SQL {
  return allOf(
    tokenId === undefined ? undefined : isInBoundToken(sql`${tokenId}`),
    isPublicOnly ? eq(repositories.visibility, "public") : undefined,
  );
}

/** The condition that a token is bound to a repository. */
export const isInBoundToken = (tokenId: SQL): SQL => sql`exists (
  select 1 from ${accessTokenRepositories}
  where ${accessTokenRepositories.tokenId} = ${tokenId}
    and ${accessTokenRepositories.repoId} = ${repositories.id}
)`;

/** Matches a name or a path, in the form that git stores. */
type Matches = (text: ByteText, budget?: Budget) => boolean;

/**
 * @param patterns Patterns that were checked when the token was made; one that can't be parsed
 *   matches nothing.
 */
function matcherOf(patterns: readonly string[]): Matches {
  const globs = patterns.map((pattern) => parseWildmatch(encodeText(pattern)));
  const parsed = globs.filter((glob): glob is Glob => glob !== undefined);
  return (text, budget) => parsed.some((glob) => matchGlob(glob, text, budget));
}

/**
 * The condition that a token's binding to refs sets for each ref that it updates; undefined without
 * one.
 */
export function refMatcher({ token }: Actor): Matches | undefined {
  return token?.boundRefs ? matcherOf(token.boundRefs) : undefined;
}

/**
 * The condition that a token's binding to paths sets for each path that it changes; undefined
 * without one.
 */
export function pathMatcher({ token }: Actor): Matches | undefined {
  return token?.boundPaths ? matcherOf(token.boundPaths) : undefined;
}

/**
 * Refuses a write to a ref, given by its full name, that is outside of the token's binding to refs.
 *
 * @throws BeyondToken
 */
export function requireRefInReach(actor: Actor, ref: ByteText): void {
  if (refMatcher(actor)?.(ref) === false) throw beyondRefs();
}

export const beyondRefs = (): BeyondToken =>
  new BeyondToken("token-refs", "the token is bound to other refs");

/**
 * Refuses a write to a path that is outside of the token's binding to paths.
 *
 * @throws BeyondToken
 */
export function requirePathInReach(actor: Actor, path: ByteText): void {
  if (pathMatcher(actor)?.(path) === false) {
    throw new BeyondToken("token-paths", "the token is bound to other paths");
  }
}

/** A package as its URL names it. */
export interface PackageName {
  readonly owner: string;
  readonly type: string;
  readonly name: string;
}

/**
 * Whether the caller's credential reaches a package, to read it or to write it. Each package
 * registry and each route of packages asks this before it does anything else, and refuses as for a
 * package that does not exist.
 *
 * Names count in lower case: an owner and a package have one name in all of its spellings.
 */
export function isPackageInReach({ token }: Actor, { owner, type, name }: PackageName): boolean {
  if (!token?.boundPackages) return true;
  const patterns = token.boundPackages.map((pattern) => pattern.toLowerCase());
  return matcherOf(patterns)(encodeText(`${owner}/${type}/${name}`.toLowerCase()));
}

/**
 * Whether the caller's credential administers the repositories in which its user does: not if it is
 * bound to refs or paths.
 *
 * SECURITY: who may set a default branch, protections, hooks and keys, or delete the repository,
 * changes every ref of it.
 */
export const isAdministrationInReach = ({ token }: Actor): boolean =>
  !token?.boundRefs && !token?.boundPaths;

/** @throws BeyondToken if `isAdministrationInReach` does not hold. */
export function requireAdministrationInReach(actor: Actor): void {
  if (isAdministrationInReach(actor)) return;
  const binding = actor.token?.boundRefs ? "refs" : "paths";
  throw new BeyondToken(
    `token-${binding}`,
    `a token that is bound to ${binding} administers no repository`,
  );
}
