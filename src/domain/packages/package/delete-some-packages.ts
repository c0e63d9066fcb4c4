import { eq, type SQL, sql } from "drizzle-orm";

import type { Database } from "../../../db/db.ts";
import {
  packageFiles,
  packages,
  packageUploads,
  packageVersions,
} from "../../../db/schema/index.ts";

/**
 * The statements that delete some of an account's packages, from the leaves on: a version goes
 * after its files. Triggers delete the contents that no file has any more, and a job their bytes.
 * The foreign keys would do the same, all at once.
 *
 * @param limit Rows that each statement deletes, at most.
 */
export function deleteSomePackages(db: Database, ownerId: number, limit: number) {
  return [
    db.delete(packageFiles).where(sql`${packageFiles.id} in (
      select ${packageFiles.id}
      from ${packageVersions}
      join ${packageFiles} on ${packageFiles.versionId} = ${packageVersions.id}
      where ${packageVersions.ownerId} = ${ownerId}
      limit ${limit}
    )`),
    db.delete(packageVersions).where(sql`${packageVersions.id} in (
      select ${packageVersions.id}
      from ${packageVersions}
      where ${packageVersions.ownerId} = ${ownerId}
        and not exists (
          select 1 from ${packageFiles} where ${packageFiles.versionId} = ${packageVersions.id}
        )
      limit ${limit}
    )`),
    db.delete(packages).where(sql`${packages.id} in (
      select ${packages.id}
      from ${packages}
      where ${packages.ownerId} = ${ownerId}
        and not exists (
          select 1 from ${packageVersions} where ${packageVersions.packageId} = ${packages.id}
        )
      limit ${limit}
    )`),
    db.delete(packageUploads).where(sql`${packageUploads.uuid} in (
      select ${packageUploads.uuid}
      from ${packageUploads}
      where ${packageUploads.ownerId} = ${ownerId}
      limit ${limit}
    )`),
  ] as const;
}

/** The condition that an account owns a package with a version that somebody sees. */
export const ownsPackages = (ownerId: number | SQL): SQL => sql`exists (
  select 1
  from ${packageVersions}
  where ${eq(packageVersions.ownerId, ownerId)} and not ${packageVersions.isInternal}
)`;
