import { and, eq, isNull, or, sql } from "drizzle-orm";

import { bindingsOf } from "../../../auth/actor.ts";
import type { Ctx } from "../../../context.ts";
import { isViolation, onlyWhile } from "../../../db/db.ts";
import {
  packageBlobs,
  packageFiles,
  packages,
  packageVersions,
  type PackageBlob,
} from "../../../db/schema/index.ts";
import type { PackageContext } from "../package/find-package.ts";
import { publishedVersionId } from "../package/publish-version.ts";
import { imageFailure } from "./image-failure.ts";
import {
  type Digest,
  findContent,
  hexOf,
  holdContent,
  type ImageTarget,
  isBlobOf,
} from "./image.ts";

/**
 * Gives an image a content that another image of the same owner has.
 *
 * @param source The other image; undefined for any that the caller may see.
 * @returns Whether there was one.
 * @throws Failure `not_found` if the content is deleted meanwhile.
 */
export async function mountBlob(
  ctx: Ctx,
  target: ImageTarget,
  digest: Digest,
  source?: PackageContext,
): Promise<boolean> {
  const blob = source
    ? (await findContent(ctx, source, digest, "blob"))?.blob
    : await findOwnersBlob(ctx, target, digest);
  if (!blob) return false;
  const refusal = imageFailure("BLOB_UNKNOWN", "the content was deleted meanwhile");
  await holdContent(ctx, target, digest, blob, {
    also: (key) => [requireFile(ctx, publishedVersionId(key), blob)],
    refusalOf: (error) =>
      isViolation(error, "NOT NULL", "package_versions.type") ? refusal : undefined,
  });
  return true;
}

/** The statement that fails unless the version has the content. */
const requireFile = (
  { db }: Ctx,
  versionId: ReturnType<typeof sql<number>>,
  blob: { id: number },
) =>
  db
    .update(packageVersions)
    .set({
      type: onlyWhile(
        sql`exists (
          select 1
          from ${packageFiles}
          where ${packageFiles.versionId} = ${versionId} and ${packageFiles.blobId} = ${blob.id}
        )`,
        "container" as const,
      ),
    })
    .where(eq(packageVersions.id, versionId));

/**
 * Finds a content in the images of the owner.
 *
 * SECURITY: only in images that every writer of this image sees: images without a repository, and
 * those of the same one. A bound token does not reach all of these.
 */
async function findOwnersBlob(
  { db, actor }: Ctx,
  { owner, pkg }: ImageTarget,
  digest: Digest,
): Promise<Pick<PackageBlob, "id"> | undefined> {
  if (bindingsOf(actor.token).length > 0) return undefined;
  const repoId = pkg?.row.repoId ?? null;
  const [found] = await db
    .select({ id: packageBlobs.id })
    .from(packageBlobs)
    .innerJoin(packageFiles, eq(packageFiles.blobId, packageBlobs.id))
    .innerJoin(packageVersions, eq(packageVersions.id, packageFiles.versionId))
    .innerJoin(packages, eq(packages.id, packageVersions.packageId))
    .where(
      and(
        isBlobOf(owner.account.id, sql`${hexOf(digest)}`),
        eq(packages.type, "container"),
        eq(packageFiles.compositeKey, "blob"),
        or(isNull(packages.repoId), repoId === null ? undefined : eq(packages.repoId, repoId)),
      ),
    )
    .limit(1);
  return found;
}
