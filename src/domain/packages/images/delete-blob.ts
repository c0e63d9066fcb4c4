import { and, eq, inArray, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { packageFiles, packageVersions } from "../../../db/schema/index.ts";
import type { PackageContext } from "../package/find-package.ts";
import { type Digest, fromContent, hexOf } from "./image.ts";
import { imageFailure } from "./image-failure.ts";

/**
 * Takes a content from an image. A trigger deletes it if no other image has it.
 *
 * @throws Failure `not_found` if the image does not have it; `not_applicable` if a manifest of the
 *   image names it.
 */
export async function deleteBlob(
  { db }: Ctx,
  { row }: PackageContext,
  digest: Digest,
): Promise<void> {
  const files = sql`(
    select ${packageFiles.id}
    ${fromContent(sql`${row.id}`, row.ownerId, sql`${hexOf(digest)}`, sql`'blob'`)}
    limit 100
  )`;
  const found = await db
    .select({ id: packageFiles.id, isInternal: packageVersions.isInternal })
    .from(packageFiles)
    .innerJoin(packageVersions, eq(packageVersions.id, packageFiles.versionId))
    .where(sql`${packageFiles.id} in ${files}`);
  if (found.length === 0) throw imageFailure("BLOB_UNKNOWN", "the image does not have the blob");
  if (found.some(({ isInternal }) => !isInternal)) {
    throw imageFailure("UNSUPPORTED", "a manifest names the blob: delete the manifest first");
  }
  // One for each of its digests that it was uploaded under.
  const held = found.map(({ id }) => id);
  await db
    .delete(packageFiles)
    .where(and(inArray(packageFiles.id, held), eq(packageFiles.compositeKey, "blob")));
}
