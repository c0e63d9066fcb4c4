import { asc, count, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { packageBlobs, packageFiles } from "../../db/schema/index.ts";
import { notFound } from "../../lib/failure.ts";
import type { PackageFileEntry } from "../../shapes/packages/package-file.ts";
import type { Listed, Slice } from "../slice.ts";
import type { PackageContext } from "./find-package.ts";
import { idOfVersionNamed } from "./find-version.ts";

/**
 * Lists the files of a version, oldest first.
 *
 * @param name Of the version, as `idOfVersionNamed` takes it.
 * @throws Failure `not_found` for a version that does not exist.
 */
export async function listPackageFiles(
  { db }: Ctx,
  pkg: PackageContext,
  name: string,
  { size, offset }: Slice,
): Promise<Listed<PackageFileEntry>> {
  const versionId = idOfVersionNamed(pkg, name);
  const isListed = eq(packageFiles.versionId, versionId);
  const { md5, sha1, sha256, sha512, sizeBytes } = packageBlobs;
  const [items, [counted]] = await db.batch([
    db
      .select({
        id: sql<number>`${packageFiles.id}`.as("file_id"),
        name: packageFiles.name,
        sizeBytes,
        md5,
        sha1,
        sha256,
        sha512,
      })
      .from(packageFiles)
      .innerJoin(packageBlobs, eq(packageBlobs.id, packageFiles.blobId))
      .where(isListed)
      .orderBy(asc(packageFiles.id))
      .limit(size)
      .offset(offset),
    db
      .select({ total: count().as("total"), id: sql<number | null>`${versionId}`.as("version_id") })
      .from(packageFiles)
      .where(isListed),
  ]);
  if (!counted || counted.id === null) throw notFound("package version does not exist");
  return { items, total: counted.total };
}
