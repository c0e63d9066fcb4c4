import { and, eq, gt } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { packageUploads, type PackageUpload } from "../../db/schema/index.ts";
import type { PartialFile } from "../../storage/hashed-files.ts";
import { imageFailure } from "./image-failure.ts";
import type { ImageTarget } from "./image.ts";

/** What is kept of an upload between its requests. */
export interface UploadState extends PartialFile {
  /** Where the next request stores the bytes that fill no part. Noted before anything is stored there. */
  readonly nextUuid: string;
}

/** An upload that goes on over several requests. */
export interface BlobUpload extends Omit<PackageUpload, "state"> {
  readonly state: UploadState;
}

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/**
 * Finds an upload for an image. SECURITY: only its creator goes on with it.
 *
 * @throws Failure `not_found` if there is none, or it has ended.
 */
export async function findUpload(
  { db, actor, now }: Ctx,
  { owner, name }: ImageTarget,
  uuid: string,
): Promise<BlobUpload> {
  const [found] = UUID.test(uuid)
    ? await db
        .select()
        .from(packageUploads)
        .where(
          and(
            eq(packageUploads.uuid, uuid),
            eq(packageUploads.ownerId, owner.account.id),
            eq(packageUploads.type, "container"),
            eq(packageUploads.nameKey, name),
            eq(packageUploads.creatorId, actor.user?.id ?? 0),
            gt(packageUploads.expiresAt, now),
          ),
        )
    : [];
  if (!found) throw imageFailure("BLOB_UPLOAD_UNKNOWN", "the upload does not exist");
  return found as BlobUpload;
}
