import { and, eq, gt } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { packageUploads, type PackageUpload } from "../../../db/schema/index.ts";
import type { PartialFile } from "../../../storage/hashed-files.ts";
import { imageFailure } from "./image-failure.ts";
import type { ImageTarget } from "./image.ts";

/** The state of an upload between its requests. */
export interface UploadState extends PartialFile {
  /**
   * Where the next request stores the bytes that fill no part. Noted before anything is stored
   * there.
   */
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
    ? await uploadOf(db, {
        uuid,
        ownerId: owner.account.id,
        name,
        creatorId: actor.user?.id ?? 0,
        now,
      })
    : [];
  if (!found) throw imageFailure("BLOB_UPLOAD_UNKNOWN", "the upload does not exist");
  return found as BlobUpload;
}

interface UploadArgument {
  readonly uuid: string;
  readonly ownerId: number;
  readonly name: string;
  readonly creatorId: number;
  readonly now: number;
}

const uploadOf = prepare((db, p: Params<UploadArgument>) =>
  db
    .select()
    .from(packageUploads)
    .where(
      and(
        eq(packageUploads.uuid, p.uuid),
        eq(packageUploads.ownerId, p.ownerId),
        eq(packageUploads.type, "container"),
        eq(packageUploads.nameKey, p.name),
        eq(packageUploads.creatorId, p.creatorId),
        gt(packageUploads.expiresAt, p.now),
      ),
    ),
);
