import type { PrincipalSql } from "../../../auth/principal.ts";
import { eq, isNotNull, isNull, type SQL } from "drizzle-orm";

import { isRepositoryVisible } from "../../../auth/access/visible-repositories.ts";
import { type Actor, boundTokenId } from "../../../auth/actor.ts";
import { allOf, anyOf } from "../../../db/db.ts";
import { ACCESS, packages, type Access, type Package } from "../../../db/schema/index.ts";

/** The packages of an owner, with the caller's permission. */
interface OwnedPackages {
  readonly access: Access;
}

/**
 * Whether the caller may see a package that is linked to no repository.
 *
 * SECURITY: one whose private repository is gone stays with those who may write the owner's
 * packages. A token that is bound to repositories reaches the packages that are linked to one of
 * them, and no others.
 */
export const isUnlinkedPackageVisible = (
  actor: Actor,
  { access }: OwnedPackages,
  { isRestricted }: Pick<Package, "isRestricted">,
): boolean => boundTokenId(actor) === undefined && (!isRestricted || access >= ACCESS.write);

/**
 * The rule of `toPackageContext` as a condition on the rows of a query of packages that is left
 * joined with `repositories`, for packages of an owner whom the caller sees.
 *
 * SECURITY: what a token is bound to by patterns of packages is no SQL: `isPackageInReach` decides
 * it for each row.
 *
 * @param mayWrite Whether the caller may write the packages of the owner.
 */
export function isPackageVisible(principal: PrincipalSql, mayWrite: boolean): SQL {
  const isUnlinkedVisible =
    principal.boundTokenId === undefined
      ? allOf(isNull(packages.repoId), mayWrite ? undefined : eq(packages.isRestricted, false))
      : undefined;
  return anyOf(
    isUnlinkedVisible,
    allOf(isNotNull(packages.repoId), isRepositoryVisible(principal)),
  );
}
