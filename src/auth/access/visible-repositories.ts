import { eq, sql, type SQL } from "drizzle-orm";

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
  const { unit } = requirement;
  return allOf(
    isWithinReachSql(actor),
    unit === undefined ? undefined : isUnitOnSql(unit),
    isPermitted(actor, requirement),
  );
}

/**
 * The condition that a repository is visible to the caller and, where `isNeeded` holds, that the caller may
 * read a unit of it.
 */
export function isRepositoryVisibleWith(
  actor: Actor,
  { unit, isNeeded }: { unit: Unit; isNeeded: SQL },
): SQL {
  // One `case` expression, so that the caller's teams are searched once for both requirements.
  const ofUnit = teamGrants({ unit, mode: "read" });
  const isEnough = sql`case when ${isNeeded} then ${ofUnit} else ${teamGrants(TO_SEE)} end`;
  return allOf(
    isWithinReachSql(actor),
    sql`(${isUnitOnSql(unit)} or not ${isNeeded})`,
    isPermitted(actor, TO_SEE, isEnough),
  );
}

function isPermitted(actor: Actor, requirement: Requirement, isEnough?: SQL): SQL {
  if (actor.isSiteAdmin) return sql`1`;
  const visibilities = requirement.mode === "read" ? visibilitiesWithoutGrant(actor) : [];
  const { user } = actor;
  // A caller who sees all public repositories and nothing else gains nothing by a grant.
  const canGrantAddMore = user && !(seesPublicOnly(actor) && visibilities.length > 0);
  return anyOf(
    ...visibilities.map((visibility) => eq(repositories.visibility, visibility)),
    canGrantAddMore ? isGranted(sql`${user.id}`, requirement, isEnough) : undefined,
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
