import { type Column, sql, type SQL } from "drizzle-orm";

import { allOf, anyOf } from "../../db/db.ts";
import { repositories, type Unit } from "../../db/schema/index.ts";
import type { PrincipalSql } from "../principal.ts";
import { isWithinReachSql } from "./credential-reach.ts";
import { isGranted, isGrantedToJob } from "./grants.ts";
import { TO_SEE, type Requirement } from "./requirement.ts";
import { teamGrants } from "./team-modes.ts";
import { isUnitOnSql } from "./unit-switches.ts";

/** The condition that a repository is visible to the caller. */
export const isRepositoryVisible = (principal: PrincipalSql): SQL =>
  isRepositoryAllowed(principal, TO_SEE);

/**
 * The rule of `resolvePermission` and `isAllowed` as a condition on the `repositories` rows of a
 * query.
 *
 * A test compares the two over every combination.
 */
export function isRepositoryAllowed(principal: PrincipalSql, requirement: Requirement): SQL {
  const { unit, mode } = requirement;
  const isPermittedHere = isPermitted(principal, requirement);
  if (unit === undefined) return allOf(isWithinReachSql(principal), isPermittedHere);
  const ifOn = allOf(isUnitOnSql(unit), isPermittedHere);
  return allOf(
    isWithinReachSql(principal),
    mode === "read" ? anyOf(ifOn, canEnable(principal)) : ifOn,
  );
}

/** The visibility of a repository at some time, beside its present one. */
export interface EarlierVisibility {
  readonly visibility: SQL | Column;
  readonly isPrivate: SQL | Column;
}

/** A unit that some rows of a query require. */
export interface UnitNeed {
  readonly unit: Unit;
  /** The condition for these rows. */
  readonly isNeeded: SQL;
}

/**
 * The condition that a repository is visible to the caller and that the caller may read the unit
 * that the row requires, if it requires one.
 *
 * @param needs   The first whose condition holds counts.
 * @param earlier The caller must also see the repository as it was then, with the grants of now.
 */
export function isRepositoryVisibleWith(
  principal: PrincipalSql,
  needs: readonly UnitNeed[],
  earlier?: EarlierVisibility,
): SQL {
  // One `case` expression, so that the caller's teams are searched once for all requirements.
  const isEnough = caseOf(needs, (unit) => teamGrants({ unit, mode: "read" }), teamGrants(TO_SEE));
  return allOf(
    isWithinReachSql(principal),
    anyOf(caseOf(needs, isUnitOnSql, sql`1`), canEnable(principal)),
    isPermitted(principal, TO_SEE, isEnough, earlier),
  );
}

function caseOf(needs: readonly UnitNeed[], ofUnit: (unit: Unit) => SQL, otherwise: SQL): SQL {
  const cases = needs.map(({ unit, isNeeded }) => sql`when ${isNeeded} then ${ofUnit(unit)}`);
  return sql`case ${sql.join(cases, sql` `)} else ${otherwise} end`;
}

/** The condition that the caller administers the repository, and so can enable its units. */
const canEnable = (principal: PrincipalSql): SQL => isPermitted(principal, { mode: "admin" });

function isPermitted(
  principal: PrincipalSql,
  requirement: Requirement,
  isEnough?: SQL,
  earlier?: EarlierVisibility,
): SQL {
  if (principal.isSiteAdmin) return sql`1`;
  const visibilities = requirement.mode === "read" ? visibilitiesWithoutGrant(principal) : [];
  const { userId } = principal;
  // A caller who sees all public repositories and nothing else gains nothing by a grant.
  const canGrantAddMore =
    userId !== undefined && !(principal.isPublicOnly && visibilities.length > 0);
  const isOneOf = (column: SQL | Column): SQL =>
    anyOf(...visibilities.map((visibility) => sql`${column} = ${visibility}`));
  const isPrivate = earlier && sql`(${repositories.isPrivate} or ${earlier.isPrivate})`;
  // The deepest condition is the last, since D1 bounds the depth and those before go down further.
  return anyOf(
    principal.boundTokenId === undefined
      ? undefined
      : isGrantedToJob(sql`${principal.boundTokenId}`, requirement),
    allOf(isOneOf(repositories.visibility), earlier && isOneOf(earlier.visibility)),
    canGrantAddMore ? isGranted(sql`${userId}`, requirement, isEnough, isPrivate) : undefined,
  );
}

/** The visibilities that the caller sees without a grant, for lists that walk an index. */
export function visibilitiesWithoutGrant(
  principal: PrincipalSql,
): ("public" | "limited" | "private")[] {
  if (principal.isSiteAdmin) return ["public", "limited", "private"];
  if (principal.isRestricted) return [];
  return principal.isPublicOnly ? ["public"] : ["public", "limited"];
}

/**
 * Whether the caller sees every public repository: false for restricted users and for bound tokens.
 */
export function seesEverythingPublic(principal: PrincipalSql): boolean {
  return principal.boundTokenId === undefined && (principal.isSiteAdmin || !principal.isRestricted);
}
