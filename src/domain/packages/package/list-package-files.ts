import { asc, count, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { packageBlobs, packageFiles } from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";
import type { PackageFileEntry } from "../../../shapes/packages/package-file.ts";
import type { Listed, Slice } from "../../slice.ts";
import type { PackageContext } from "./find-package.ts";
import { idOfVersionNamed, type VersionName, versionName } from "./find-version.ts";

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
  const {
    rows,
    counted: [counted],
  } = await batch(
    db,
    filesOfVersion(db, { packageId: pkg.row.id, name: versionName(name), size, offset }),
  );
  if (!counted || counted.id === null) throw notFound("package version does not exist");
  return { items: rows, total: counted.total };
}

type VersionFiles = Slice & { readonly packageId: number; readonly name: VersionName };

const filesOfVersion = prepareAll((db, p: Params<VersionFiles>) => {
  const versionId = idOfVersionNamed(p.packageId, p.name);
  const isListed = eq(packageFiles.versionId, versionId);
  const { md5, sha1, sha256, sha512, sizeBytes } = packageBlobs;
  return {
    rows: db
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
      .limit(p.size)
      .offset(p.offset),
    counted: db
      .select({ total: count().as("total"), id: sql<number | null>`${versionId}`.as("version_id") })
      .from(packageFiles)
      .where(isListed),
  };
});
