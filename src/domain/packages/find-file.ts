import { and, eq, type SQL, sql } from "drizzle-orm";

import { accessFacts } from "../../auth/access/facts.ts";
import type { CallerSql } from "../../auth/caller-sql.ts";
import type { Ctx } from "../../context.ts";
import { columnsOf, type Database } from "../../db/db.ts";
import {
  packageBlobs,
  packageFiles,
  packages,
  packageVersions,
  repositories,
  type PackageBlob,
  type PackageFile,
  type PackageVersion,
} from "../../db/schema/index.ts";
import { isOwnerNamed, type PackageContext, type PackageKey } from "./find-package.ts";

/** A file of a version with its content. */
export interface FileOfVersion {
  readonly file: PackageFile;
  readonly blob: PackageBlob;
  readonly version: PackageVersion;
}

/** What names a file within a package, each as the format compares it. */
export interface FileKey {
  readonly versionKey?: string;
  /** A text, or an expression on the package. */
  readonly nameKey: string | SQL;
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

/**
 * The id of a file of the package that the query around this selects; the newest one if several have the key. Null if there
 * is none.
 */
export const fileIdOf = (key: FileKey): SQL => sql`(
  select ${packageFiles.id}
  from ${packageVersions}
  cross join ${packageFiles}
  where ${packageVersions.packageId} = ${packages.id}
    and ${packageFiles.versionId} = ${packageVersions.id}
    and ${isFile(key)}
  order by ${packageFiles.id} desc
  limit 1
)`;

/**
 * Selects a package of an owner by its key, as `selectPackage`, with a file of it.
 *
 * SECURITY: the file is shown only with a package that `toPackageContext` returned.
 *
 * @param fileId The id of a file of the package, such as that of `fileIdOf`.
 */
export const selectPackageWithFile = (
  db: Database,
  who: CallerSql,
  ownerName: string,
  { type, nameKey }: PackageKey,
  fileId: SQL,
) =>
  db
    .select({
      pkg: columnsOf(packages, "p"),
      repo: columnsOf(repositories, "r"),
      ...accessFacts(who),
      file: columnsOf(packageFiles, "f"),
      blob: columnsOf(packageBlobs, "b"),
      version: columnsOf(packageVersions, "v"),
    })
    .from(packages)
    .leftJoin(repositories, eq(repositories.id, packages.repoId))
    .leftJoin(packageFiles, sql`${packageFiles.id} = ${fileId}`)
    .leftJoin(packageVersions, eq(packageVersions.id, packageFiles.versionId))
    .leftJoin(packageBlobs, eq(packageBlobs.id, packageFiles.blobId))
    .where(and(isOwnerNamed(ownerName), eq(packages.type, type), eq(packages.nameKey, nameKey)));
