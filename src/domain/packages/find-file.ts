import { and, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { columnsOf, type Database } from "../../db/db.ts";
import {
  packageBlobs,
  packageFiles,
  packageVersions,
  type PackageBlob,
  type PackageFile,
  type PackageVersion,
} from "../../db/schema/index.ts";
import type { PackageContext } from "./find-package.ts";

/** A file of a version with its content. */
export interface FileOfVersion {
  readonly file: PackageFile;
  readonly blob: PackageBlob;
  readonly version: PackageVersion;
}

/** What names a file within a package, each as the format compares it. */
export interface FileKey {
  readonly versionKey?: string;
  readonly nameKey: string;
  readonly compositeKey?: string;
}

/** Selects files with their contents and versions. */
export const selectFiles = (db: Database) =>
  db
    .select({
      file: columnsOf(packageFiles, "f"),
      blob: columnsOf(packageBlobs, "b"),
      version: columnsOf(packageVersions, "v"),
    })
    .from(packageVersions)
    .innerJoin(packageFiles, eq(packageFiles.versionId, packageVersions.id))
    .innerJoin(packageBlobs, eq(packageBlobs.id, packageFiles.blobId))
    .$dynamic();

const isFile = ({ versionKey, nameKey, compositeKey }: FileKey) =>
  and(
    versionKey === undefined ? undefined : eq(packageVersions.versionKey, versionKey),
    eq(packageFiles.nameKey, nameKey),
    compositeKey === undefined ? undefined : eq(packageFiles.compositeKey, compositeKey),
  );

/** Finds a file of a package; the newest one if several have the key. */
export async function findPackageFile(
  { db }: Ctx,
  { row }: PackageContext,
  key: FileKey,
): Promise<FileOfVersion | undefined> {
  const [found] = await selectFiles(db)
    .where(and(eq(packageVersions.packageId, row.id), isFile(key)))
    .orderBy(sql`${packageFiles.id} desc`)
    .limit(1);
  return found;
}
