import { deleteBlob } from "../../domain/images/delete-blob.ts";
import { imageFailure } from "../../domain/images/image-failure.ts";
import { contentIdOf } from "../../domain/images/image.ts";
import { answerStoredFile } from "../../lib/stored-file.ts";
import type { RegistryContext } from "../env.ts";
import { enterImage, enterImageFile, NO_FILE, requireImage } from "./enter-image.ts";
import { isDigest, requireDigest } from "./names.ts";

/** Streams a blob, or a range of it. Downloads are counted by manifests, of which each pull gets one. */
export async function getBlob(
  c: RegistryContext,
  image: string,
  digest: string,
): Promise<Response> {
  const fileId = isDigest(digest) ? contentIdOf(digest, "blob") : NO_FILE;
  const { ctx, found } = await enterImageFile(c, image, fileId);
  if (!found) throw imageFailure("BLOB_UNKNOWN", "the image does not have the blob");
  const { blob } = found;
  return answerStoredFile(c.req.raw, {
    sizeBytes: blob.sizeBytes,
    tag: digest,
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
