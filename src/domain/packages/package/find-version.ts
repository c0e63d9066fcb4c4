import { and, desc, eq, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import type { Ctx } from "../../../context.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { packageVersions, type PackageVersion } from "../../../db/schema/index.ts";
import type { PackageContext } from "./find-package.ts";

const named = alias(packageVersions, "named");

/** Finds a version of a package that somebody sees, by its key. */
export async function findVersion(
  { db }: Ctx,
  { row }: PackageContext,
  versionKey: string,
): Promise<PackageVersion | undefined> {
  const [found] = await versionOfKey(db, { packageId: row.id, versionKey });
  return found;
}

const versionOfKey = prepare((db, p: Params<{ packageId: number; versionKey: string }>) =>
  db
    .select()
    .from(packageVersions)
    .where(
      and(
        eq(packageVersions.packageId, p.packageId),
        eq(packageVersions.versionKey, p.versionKey),
        eq(packageVersions.isInternal, false),
      ),
    ),
);

/** Finds the version of a package that was published last. */
export async function findNewestVersion(
  { db }: Ctx,
  { row }: PackageContext,
): Promise<PackageVersion | undefined> {
  const [found] = await newestVersion(db, { packageId: row.id });
  return found;
}

const newestVersion = prepare((db, p: Params<{ packageId: number }>) =>
  db
    .select()
    .from(packageVersions)
    .where(and(eq(packageVersions.packageId, p.packageId), eq(packageVersions.isInternal, false)))
    .orderBy(desc(packageVersions.id))
    .limit(1),
);

/** All versions of a package that somebody sees, newest first. */
export const listAllVersions = ({ db }: Ctx, { row }: PackageContext): Promise<PackageVersion[]> =>
  versionsOfPackage(db, { packageId: row.id }).execute();

const versionsOfPackage = prepare((db, p: Params<{ packageId: number }>) =>
  db
    .select()
    .from(packageVersions)
    .where(and(eq(packageVersions.packageId, p.packageId), eq(packageVersions.isInternal, false)))
    .orderBy(desc(packageVersions.id)),
);

/**
 * The id of the version of a package that a person names: as it was published, else in the form in
 * which its format compares versions. Null if there is none.
 */
export const idOfVersionNamed = (
  packageId: SQL,
  { exact, lower }: Params<VersionName>,
): SQL<number> => sql`(
  select ${named.id}
  from ${packageVersions} ${named}
  where ${named.packageId} = ${packageId}
    and not ${named.isInternal}
    and (${named.versionKey} in (${exact}, ${lower}) or ${named.version} = ${exact})
  order by ${named.version} = ${exact} desc, ${named.id} desc
  limit 1
)`;

/** The name of a version as a person typed it, and in lower case. */
export interface VersionName {
  readonly exact: string;
  readonly lower: string;
}

export const versionName = (name: string): VersionName => ({
  exact: name,
  lower: name.toLowerCase(),
});
