import { and, eq, isNotNull, or } from "drizzle-orm";

import { accessFacts } from "../../auth/access/facts.ts";
import { type Actor, boundTokenId } from "../../auth/actor.ts";
import { isPackageInReach } from "../../auth/access/credential-reach.ts";
import type { CallerSql } from "../../auth/caller-sql.ts";
import { columnsOf, type Database } from "../../db/db.ts";
import {
  packageRegistries,
  packages,
  repositories,
  users,
  type Package,
  type PackageRegistry,
  type PackageType,
} from "../../db/schema/index.ts";
import { type PackageOwner, toPackageContext } from "./find-package.ts";
import { isUnlinkedPackageVisible } from "./package-visibility.ts";

/** All packages of one format and owner, as far as the caller may see them. */
export interface RegistryView {
  readonly registry: PackageRegistry;
  /**
   * SECURITY: whether the caller may see a package of it. An index over several packages asks it for each.
   */
  readonly sees: (pkg: Pick<Package, "id" | "name" | "repoId" | "isRestricted">) => boolean;
  /** The same for callers who see the same packages: a part of what an index is kept by. */
  readonly visibilityKey: string;
}

/** Selects the registry of a format and owner with the packages in it that not all who see the owner see as well. */
export const selectRegistry = (
  db: Database,
  who: CallerSql,
  ownerName: string,
  type: PackageType,
) =>
  db
    .select({
      registry: columnsOf(packageRegistries, "g"),
      pkg: columnsOf(packages, "p"),
      repo: columnsOf(repositories, "r"),
      ...accessFacts(who),
    })
    .from(users)
    .innerJoin(
      packageRegistries,
      and(eq(packageRegistries.ownerId, users.id), eq(packageRegistries.type, type)),
    )
    .leftJoin(
      packages,
      and(
        eq(packages.ownerId, packageRegistries.ownerId),
        eq(packages.type, type),
        or(isNotNull(packages.repoId), eq(packages.isRestricted, true)),
      ),
    )
    .leftJoin(repositories, eq(repositories.id, packages.repoId))
    .where(eq(users.lowerName, ownerName.toLowerCase()));

type RegistryRow = Awaited<ReturnType<typeof selectRegistry>>[number];

/** @param rows Those of `selectRegistry`; none where the owner never had a package of the format. */
export function toRegistryView(
  actor: Actor,
  owner: PackageOwner,
  type: PackageType,
  rows: readonly RegistryRow[] = [],
): RegistryView {
  const { account } = owner;
  const listed = rows.filter(({ pkg }) => pkg.id !== null);
  const seen = new Set(
    listed.filter((row) => toPackageContext(actor, owner, row)).map(({ pkg }) => pkg.id),
  );
  const hidden = listed.filter(({ pkg }) => !seen.has(pkg.id)).map(({ pkg }) => pkg.id);
  const isBound = boundTokenId(actor) !== undefined;
  const patterns = actor.token?.boundPackages ?? null;
  return {
    registry: rows[0]?.registry ?? {
      ownerId: account.id,
      type,
      revision: 0,
      changedAt: 0,
      publicRevision: 0,
      publicChangedAt: 0,
      publicKey: "",
      sealedKey: "",
    },
    sees: (pkg) =>
      (pkg.repoId === null ? isUnlinkedPackageVisible(actor, owner, pkg) : seen.has(pkg.id)) &&
      isPackageInReach(actor, { owner: account.name, type, name: pkg.name }),
    visibilityKey: JSON.stringify([hidden, isBound, patterns]),
  };
}
