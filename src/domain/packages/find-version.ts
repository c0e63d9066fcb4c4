import { and, desc, eq, type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { packageVersions, type PackageVersion } from "../../db/schema/index.ts";
import type { PackageContext } from "./find-package.ts";

/** Finds a version of a package that somebody sees, by its key. */
export async function findVersion(
  { db }: Ctx,
  { row }: PackageContext,
  versionKey: string,
): Promise<PackageVersion | undefined> {
  const [found] = await db
    .select()
    .from(packageVersions)
    .where(
      and(
        eq(packageVersions.packageId, row.id),
        eq(packageVersions.versionKey, versionKey),
        eq(packageVersions.isInternal, false),
      ),
    );
  return found;
}

/** All versions of a package that somebody sees, newest first. */
export const listAllVersions = ({ db }: Ctx, { row }: PackageContext): Promise<PackageVersion[]> =>
  db
    .select()
    .from(packageVersions)
    .where(and(eq(packageVersions.packageId, row.id), eq(packageVersions.isInternal, false)))
    .orderBy(desc(packageVersions.id));

/**
 * The id of the version of a package that a person names: as it was published, else in the form in which its format
 * compares versions. Null if there is none.
 */
export const idOfVersionNamed = (
  { row }: Pick<PackageContext, "row">,
  name: string,
): SQL<number> => sql`(
  select named.id
  from ${packageVersions} named
  where named.package_id = ${row.id}
    and not named.is_internal
    and (named.version_key in (${name}, ${name.toLowerCase()}) or named.version = ${name})
  order by named.version = ${name} desc, named.id desc
  limit 1
)`;
