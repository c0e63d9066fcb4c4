import { type Column, sql, type SQL } from "drizzle-orm";

import { allOf, anyOf } from "../../db/db.ts";
import { repositories, type Unit } from "../../db/schema/index.ts";
import { boundTokenId, seesPublicOnly, type Actor } from "../actor.ts";
import { isWithinReachSql } from "./credential-reach.ts";
import { isGranted } from "./grants.ts";
import { TO_SEE, type Requirement } from "./requirement.ts";
import { teamGrants } from "./team-modes.ts";
import { isUnitOnSql } from "./unit-switches.ts";

/** The condition that a repository is visible to the caller. */
export const isRepositoryVisible = (actor: Actor): SQL => isRepositoryAllowed(actor, TO_SEE);

/**
 * The rule of `resolvePermission` and `isAllowed` as a condition on the `repositories` rows of a query.
 *
 * A test compares the two over every combination.
 */
export function isRepositoryAllowed(actor: Actor, requirement: Requirement): SQL {
  const { unit, mode } = requirement;
  const isPermittedHere = isPermitted(actor, requirement);
  if (unit === undefined) return allOf(isWithinReachSql(actor), isPermittedHere);
  const ifOn = allOf(isUnitOnSql(unit), isPermittedHere);
  return allOf(isWithinReachSql(actor), mode === "read" ? anyOf(ifOn, canEnable(actor)) : ifOn);
}

/** What the visibility of a repository was at some time, beside what it is now. */
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
 * The condition that a repository is visible to the caller and that the caller may read the unit that the row requires,
 * if it requires one.
 *
 * @param needs   The first whose condition holds counts.
 * @param earlier The caller must also see the repository as it was then, with the grants of now.
 */
export function isRepositoryVisibleWith(
  actor: Actor,
  needs: readonly UnitNeed[],
  earlier?: EarlierVisibility,
): SQL {
  // One `case` expression, so that the caller's teams are searched once for all requirements.
  const isEnough = caseOf(needs, (unit) => teamGrants({ unit, mode: "read" }), teamGrants(TO_SEE));
  return allOf(
    isWithinReachSql(actor),
    anyOf(caseOf(needs, isUnitOnSql, sql`1`), canEnable(actor)),
    isPermitted(actor, TO_SEE, isEnough, earlier),
  );
}

function caseOf(needs: readonly UnitNeed[], ofUnit: (unit: Unit) => SQL, otherwise: SQL): SQL {
  const cases = needs.map(({ unit, isNeeded }) => sql`when ${isNeeded} then ${ofUnit(unit)}`);
  return sql`case ${sql.join(cases, sql` `)} else ${otherwise} end`;
}

/** The condition that the caller administers the repository, and so can enable its units. */
const canEnable = (actor: Actor): SQL => isPermitted(actor, { mode: "admin" });

function isPermitted(
  actor: Actor,
  requirement: Requirement,
  isEnough?: SQL,
  earlier?: EarlierVisibility,
): SQL {
  if (actor.isSiteAdmin) return sql`1`;
  const visibilities = requirement.mode === "read" ? visibilitiesWithoutGrant(actor) : [];
  const { user } = actor;
  // A caller who sees all public repositories and nothing else gains nothing by a grant.
  const canGrantAddMore = user && !(seesPublicOnly(actor) && visibilities.length > 0);
  const isOneOf = (column: SQL | Column): SQL =>
    anyOf(...visibilities.map((visibility) => sql`${column} = ${visibility}`));
  const isPrivate = earlier && sql`(${repositories.isPrivate} or ${earlier.isPrivate})`;
  return anyOf(
    allOf(isOneOf(repositories.visibility), earlier && isOneOf(earlier.visibility)),
    canGrantAddMore ? isGranted(sql`${user.id}`, requirement, isEnough, isPrivate) : undefined,
  );
}

/** The visibilities that `actor` sees without a grant, for lists that walk an index. */
export function visibilitiesWithoutGrant(actor: Actor): ("public" | "limited" | "private")[] {
  if (actor.isSiteAdmin) return ["public", "limited", "private"];
  if (actor.user?.isRestricted) return [];
  return seesPublicOnly(actor) ? ["public"] : ["public", "limited"];
}

/** Whether the caller sees every public repository: false for restricted users and for bound tokens. */
export function seesEverythingPublic(actor: Actor): boolean {
  return boundTokenId(actor) === undefined && (actor.isSiteAdmin || !actor.user?.isRestricted);
}
