import { and, eq, type SQL, sql } from "drizzle-orm";

import { accessFacts } from "../../../auth/access/facts.ts";
import { type CallerSql, toCallerSql } from "../../../auth/caller-sql.ts";
import type { Ctx } from "../../../context.ts";
import { columnsOf, type Database } from "../../../db/db.ts";
import { type Params, prepare, type PreparedQuery } from "../../../db/prepared.ts";
import {
  packageBlobs,
  packageFiles,
  packages,
  packageVersions,
  repositories,
  type PackageBlob,
  type PackageFile,
  type PackageVersion,
} from "../../../db/schema/index.ts";
import { isPackageOf, type PackageArgument, type PackageContext } from "./find-package.ts";
import { idOfVersionNamed, type VersionName, versionName } from "./find-version.ts";

/** A file of a version with its content. */
export interface FileOfVersion {
  readonly file: PackageFile;
  readonly blob: PackageBlob;
  readonly version: PackageVersion;
}

/** The key of a file within a package, each part as the format compares it. */
export interface FileKey {
  readonly versionKey?: string;
  readonly nameKey: string;
  readonly compositeKey?: string;
}

/** The same as SQL, which may be expressions on the package. */
type FileKeySql = { readonly [K in keyof FileKey]: SQL };

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

const isFile = ({ versionKey, nameKey, compositeKey }: FileKeySql) =>
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
  const [found] = await fileOfKey(db, { packageId: row.id, key });
  return found;
}

const fileOfKey = prepare((db, { packageId, key }: Params<{ packageId: number; key: FileKey }>) =>
  selectFiles(db)
    .where(and(eq(packageVersions.packageId, packageId), isFile(key)))
    .orderBy(sql`${packageFiles.id} desc`)
    .limit(1),
);

/** Finds a file of a package by its id, in the version that a person names. */
export async function findFileOfVersion(
  { db }: Ctx,
  { row }: PackageContext,
  version: string,
  id: number,
): Promise<FileOfVersion | undefined> {
  const [found] = await fileOfId(db, { packageId: row.id, name: versionName(version), id });
  return found;
}

interface IdentifiedFile {
  readonly packageId: number;
  readonly name: VersionName;
  readonly id: number;
}

const fileOfId = prepare((db, p: Params<IdentifiedFile>) =>
  selectFiles(db).where(
    and(
      eq(packageFiles.id, p.id),
      sql`${packageVersions.id} = ${idOfVersionNamed(p.packageId, p.name)}`,
    ),
  ),
);

/**
 * The id of a file of the package that the query around this selects; the newest one if several
 * have the key. Null if there is none.
 */
export const fileIdOf = (key: FileKeySql): SQL => sql`(
  select ${packageFiles.id}
  from ${packageVersions}
  cross join ${packageFiles}
  where ${packageVersions.packageId} = ${packages.id}
    and ${packageFiles.versionId} = ${packageVersions.id}
    and ${isFile(key)}
  order by ${packageFiles.id} desc
  limit 1
)`;

/** A package of an owner by its key, and what names a file of it. */
type PackageFileArgument<K> = PackageArgument & { readonly file: K };

/** A query for a package of an owner with a file of it. */
export type PackageFileQuery<K> = PreparedQuery<
  PackageFileArgument<K>,
  unknown,
  Awaited<ReturnType<typeof selectPackagesWithFile>>
>;

/**
 * Declares a query for a package, as `selectPackage`, with a file of it.
 *
 * SECURITY: the file is shown only with a package that `toPackageContext` returned.
 *
 * @param toFileId The id of a file of the package that a key names, such as `fileIdOf`.
 */
export const preparePackageFile = <K>(toFileId: (key: Params<K>) => SQL): PackageFileQuery<K> =>
  prepare((db, p: Params<PackageFileArgument<K>>) => {
    const { caller, file, ...named } = p as Params<PackageArgument> & { file: Params<K> };
    return selectPackagesWithFile(db, toCallerSql(caller), toFileId(file)).where(
      isPackageOf(named),
    );
  });

const selectPackagesWithFile = (db: Database, who: CallerSql, fileId: SQL) =>
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
    .$dynamic();

/** Selects a package with the file of a key. */
export const selectPackageWithFile = preparePackageFile<FileKey>(fileIdOf);
