import { and, eq, type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { packageFiles, packages, packageVersions } from "../../../db/schema/index.ts";
import { recordEach } from "../../../events/record.ts";
import { notFound } from "../../../lib/failure.ts";
import type { PackageContext } from "./find-package.ts";

/**
 * Deletes a version of a package, with the package if no other version is left. Triggers delete the
 * contents that no file has any more, and a job their bytes.
 *
 * @throws Failure `not_found` if another request has deleted it.
 */
export async function deleteVersion(
  ctx: Ctx,
  pkg: PackageContext,
  { id }: { readonly id: number },
): Promise<void> {
  const isVersion = and(eq(packageVersions.id, id), eq(packageVersions.packageId, pkg.row.id));
  const { deleted } = await batch(ctx.db, deleteVersions(ctx, pkg, isVersion));
  if (deleted.length === 0) throw notFound();
}

/**
 * The statements that delete some versions of a package with an event for each, and a package that
 * has none left.
 */
export function deleteVersions(
  ctx: Ctx,
  { row }: Pick<PackageContext, "row">,
  isOne: SQL | undefined,
) {
  const { db } = ctx;
  const isDeleted = and(eq(packageVersions.packageId, row.id), isOne);
  return {
    events: recordEach(
      ctx,
      {
        type: "package.deleted",
        ownerId: row.ownerId,
        repoId: row.repoId,
        packageId: row.id,
        versionId: sql`${packageVersions.id}`,
        packageType: row.type,
        name: row.name,
        // A column, which `recordEach` takes for fields of any type.
        version: sql`${packageVersions.version}` as unknown as string,
        creatorId: sql`coalesce(${packageVersions.creatorId}, 0)`,
        publishedAt: sql`${packageVersions.createdAt}`,
      },
      sql`from ${packageVersions} where ${isDeleted} and not ${packageVersions.isInternal}`,
    ),
    deleted: db.delete(packageVersions).where(isDeleted).returning({ id: packageVersions.id }),
    emptied: deletePackageIfEmpty(ctx, row.id),
  };
}

/** The statement that deletes a package without versions. */
const deletePackageIfEmpty = ({ db }: Ctx, packageId: number) =>
  db.delete(packages).where(
    and(
      eq(packages.id, packageId),
      sql`not exists (
        select 1
        from ${packageVersions}
        where ${packageVersions.packageId} = ${packageId} and not ${packageVersions.isInternal}
      )`,
    ),
  );

/**
 * Deletes a file of a version, with the version if it was the last one.
 *
 * @throws Failure `not_found` if another request has deleted it.
 */
export async function deleteFile(
  ctx: Ctx,
  pkg: PackageContext,
  version: { readonly id: number },
  file: { readonly id: number },
): Promise<void> {
  const isEmpty = and(
    eq(packageVersions.id, version.id),
    sql`not exists (
      select 1
      from ${packageFiles}
      where ${packageFiles.versionId} = ${version.id}
    )`,
  );
  const isFile = and(eq(packageFiles.id, file.id), eq(packageFiles.versionId, version.id));
  const { files } = await batch(ctx.db, {
    files: ctx.db.delete(packageFiles).where(isFile).returning({ id: packageFiles.id }),
    ...deleteVersions(ctx, pkg, isEmpty),
  });
  if (files.length === 0) throw notFound();
}
