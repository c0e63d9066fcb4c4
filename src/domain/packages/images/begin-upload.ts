import type { Ctx } from "../../../context.ts";
import { packageLooseFiles, packageUploads } from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";
import { PACKAGE_UPLOAD_LIFE_MS } from "../package/receive-blob.ts";
import type { BlobUpload, UploadState } from "./find-upload.ts";
import type { ImageTarget } from "./image.ts";

/**
 * Begins an upload for an image. What it will write is noted first, in `package_loose_files`: a job
 * deletes it if the upload does not end within a day.
 */
export async function beginUpload(
  { db, actor, now }: Ctx,
  { owner, name }: ImageTarget,
): Promise<Pick<BlobUpload, "uuid" | "receivedBytes">> {
  if (!actor.user) throw notFound();
  const uuid = crypto.randomUUID();
  const state: UploadState = { nextUuid: crypto.randomUUID() };
  const expiresAt = now + PACKAGE_UPLOAD_LIFE_MS;
  await db.batch([
    db.insert(packageUploads).values({
      uuid,
      ownerId: owner.account.id,
      type: "container",
      nameKey: name,
      creatorId: actor.user.id,
      state,
      createdAt: now,
      expiresAt,
    }),
    db.insert(packageLooseFiles).values([
      { uuid, expiresAt },
      { uuid: state.nextUuid, expiresAt },
    ]),
  ]);
  return { uuid, receivedBytes: 0 };
}
