import { and, desc, eq } from "drizzle-orm";

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
