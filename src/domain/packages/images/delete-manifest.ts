import { and, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { packageFiles, packageVersions } from "../../../db/schema/index.ts";
import { deleteVersions } from "../package/delete-version.ts";
import type { PackageContext } from "../package/find-package.ts";
import type { Reference } from "./select-image-file.ts";
import { fromContent, hexOf } from "./image.ts";
import { imageFailure } from "./image-failure.ts";

/**
 * Deletes a tag with its manifest, or a manifest with all of its tags. What other versions of the
 * image name stays.
 *
 * @throws Failure `not_found` if the image has no version of the tag or manifest.
 */
export async function deleteManifest(
  ctx: Ctx,
  pkg: PackageContext,
  { tag, digest }: Reference,
): Promise<void> {
  const { id, ownerId } = pkg.row;
  const isOne =
    tag === undefined
      ? sql`${packageVersions.id} in (
          select ${packageFiles.versionId}
          ${fromContent(sql`${id}`, ownerId, sql`${hexOf(digest)}`, sql`'manifest'`)}
            and ${packageFiles.isLead}
        )`
      : and(eq(packageVersions.versionKey, tag), eq(packageVersions.isInternal, false));
  const { deleted } = await batch(ctx.db, deleteVersions(ctx, pkg, isOne));
  if (deleted.length === 0) throw imageFailure("MANIFEST_UNKNOWN", "the manifest does not exist");
}
