import { deleteBlob } from "../../domain/packages/images/delete-blob.ts";
import { imageFailure } from "../../domain/packages/images/image-failure.ts";
import {
  contentArgument,
  selectImageWithBlob,
} from "../../domain/packages/images/select-image-file.ts";
import { answerStoredFile } from "../../lib/stored-file.ts";
import type { RegistryContext } from "../env.ts";
import { enterImage, enterImageFile, requireImage } from "./enter-image.ts";
import { isDigest, requireDigest } from "./names.ts";

/**
 * Streams a blob, or a range of it. Downloads are counted by manifests, of which each pull gets
 * one.
 */
export async function getBlob(
  c: RegistryContext,
  image: string,
  digest: string,
): Promise<Response> {
  const file = contentArgument(isDigest(digest) ? digest : undefined);
  const { ctx, found } = await enterImageFile(c, image, selectImageWithBlob, file);
  if (!found) throw imageFailure("BLOB_UNKNOWN", "the image does not have the blob");
  const { blob, file: stored } = found;
  return answerStoredFile(c.req.raw, {
    sizeBytes: blob.sizeBytes,
    tag: digest,
    modifiedAt: stored.createdAt,
    headers: {
      "Content-Type": "application/octet-stream",
      "Docker-Content-Digest": digest,
      // Kept, but shown again only after another look at what the reader may see.
      "Cache-Control": "private, no-cache",
    },
    open: (range) => ctx.git.packageFiles.openCached(blob, range),
  });
}

export async function removeBlob(
  c: RegistryContext,
  image: string,
  digest: string,
): Promise<Response> {
  const request = await enterImage(c, image, "write");
  await deleteBlob(request.ctx, requireImage(request), requireDigest(digest));
  return c.body(null, 202);
}
