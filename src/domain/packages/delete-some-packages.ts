import { eq, type SQL, sql } from "drizzle-orm";

import { type Database, isViolation, onlyWhile } from "../../db/db.ts";
import { packageFiles, packages, packageUploads, packageVersions } from "../../db/schema/index.ts";

/**
 * The statements that delete some of an account's packages, from the leaves on: a version goes after its files. Triggers
 * delete the contents that no file has any more, and a job their bytes. The foreign keys would do the same, all at once.
 *
 * @param limit Rows that each statement deletes, at most.
 */
export function deleteSomePackages(db: Database, ownerId: number, limit: number) {
  return [
    db.delete(packageFiles).where(sql`${packageFiles.id} in (
      select f.id
      from ${packageVersions} v
      join ${packageFiles} f on f.version_id = v.id
      where v.owner_id = ${ownerId}
      limit ${limit}
    )`),
    db.delete(packageVersions).where(sql`${packageVersions.id} in (
      select v.id
      from ${packageVersions} v
      where v.owner_id = ${ownerId}
        and not exists (select 1 from ${packageFiles} f where f.version_id = v.id)
      limit ${limit}
    )`),
    db.delete(packages).where(sql`${packages.id} in (
      select p.id
      from ${packages} p
      where p.owner_id = ${ownerId}
        and not exists (select 1 from ${packageVersions} v where v.package_id = p.id)
      limit ${limit}
    )`),
    db.delete(packageUploads).where(sql`${packageUploads.uuid} in (
        select u.uuid from ${packageUploads} u where u.owner_id = ${ownerId} limit ${limit}
      )`),
  ] as const;
}

const isSeenOf = (ownerId: number): SQL =>
  sql`${eq(packageVersions.ownerId, ownerId)} and not ${packageVersions.isInternal}`;

/** Selects a version of an account's packages that somebody sees, if there is one. */
export const selectSeenVersion = (db: Database, ownerId: number) =>
  db.select({ id: packageVersions.id }).from(packageVersions).where(isSeenOf(ownerId)).limit(1);

/** The statement that fails, with its batch, while an account owns a package with a version that somebody sees. */
export const refuseSeenVersions = (db: Database, ownerId: number) =>
  db
    .update(packageVersions)
    .set({ ownerId: onlyWhile(sql`0`, ownerId) })
    .where(isSeenOf(ownerId));

/** Whether an error is the failure of `refuseSeenVersions`. */
export const isOwningPackages = (error: unknown): boolean =>
  isViolation(error, "NOT NULL", "package_versions.owner_id");
