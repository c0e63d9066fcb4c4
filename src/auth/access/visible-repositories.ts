import { eq, sql, type SQL } from "drizzle-orm";

import { allOf, anyOf } from "../../db/db.ts";
import { repositories, type Unit } from "../../db/schema/index.ts";
import { boundTokenId, seesPublicOnly, type Actor } from "../actor.ts";
import { isWithinReachSql } from "./credential-reach.ts";
import { isGranted } from "./grants.ts";
import { TO_SEE, type Requirement } from "./requirement.ts";
import { teamGives } from "./team-modes.ts";
import { isUnitOnSql } from "./unit-switches.ts";

/** The condition for a repository that exists for the caller. */
export const isRepositoryVisible = (actor: Actor): SQL => isRepositoryAllowed(actor, TO_SEE);

/**
 * The same rule as `resolvePermission` and `isAllowed`, as a condition on each repository of a query.
 *
 * A test holds the two together over every combination.
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
 * The condition for a repository that exists for the caller and, while `isNeeded` holds, of which they
 * may read a unit.
 */
export function isRepositoryVisibleWith(
  actor: Actor,
  { unit, isNeeded }: { unit: Unit; isNeeded: SQL },
): SQL {
  // One look at the teams, whichever it is that they have to give.
  const ofUnit = teamGives({ unit, mode: "read" });
  const isEnough = sql`case when ${isNeeded} then ${ofUnit} else ${teamGives(TO_SEE)} end`;
  return allOf(
    isWithinReachSql(actor),
    sql`(${isUnitOnSql(unit)} or not ${isNeeded})`,
    isPermitted(actor, TO_SEE, isEnough),
  );
}

function isPermitted(actor: Actor, requirement: Requirement, isEnough?: SQL): SQL {
  if (actor.isSiteAdmin) return sql`1`;
  const visibilities = requirement.mode === "read" ? openVisibilities(actor) : [];
  const { user } = actor;
  // Whoever sees public things alone, and all of them, need not be asked for what was granted.
  const isGrantMore = user && !(seesPublicOnly(actor) && visibilities.length > 0);
  return anyOf(
    ...visibilities.map((visibility) => eq(repositories.visibility, visibility)),
    isGrantMore ? isGranted(sql`${user.id}`, requirement, isEnough) : undefined,
  );
}

/** The visibilities that `actor` sees without being granted anything, for lists that walk an index. */
export function openVisibilities(actor: Actor): ("public" | "limited" | "private")[] {
  if (actor.isSiteAdmin) return ["public", "limited", "private"];
  if (actor.user?.isRestricted) return [];
  return seesPublicOnly(actor) ? ["public"] : ["public", "limited"];
}

/** Whether everything public is there for the caller: not for restricted users, nor for bound tokens. */
export function seesOpenThings(actor: Actor): boolean {
  return boundTokenId(actor) === undefined && (actor.isSiteAdmin || !actor.user?.isRestricted);
}
