import { resident } from "../../../git/catalog/block-pool.ts";
import type { ObjectLocation } from "../../../git/catalog/pack-catalog.ts";
import type { ReadBlob } from "../../../shapes/git/git-blob.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import { formatBase64 } from "../../../lib/base64.ts";
import { POINTER_BYTES_MAX, readLfsPointer } from "./lfs-pointer.ts";

/**
 * Maximum size of a content inside a JSON response, in bytes. Clients read larger ones from `/raw`.
 */
export const ENCODED_BYTES_MAX = 10 * 1024 * 1024;

/**
 * Reads a blob for a JSON response. Its content is null if it is over 10 MB, or if it is stored in
 * a delta chain that is too large for memory.
 */
export async function readBlob(
  { catalog, objects }: OpenRepository,
  location: ObjectLocation,
): Promise<ReadBlob> {
  const { oid, sizeBytes, isLarge } = await resident(() => {
    const id = catalog.oid(location);
    const large = objects.findLarge(id) !== undefined;
    return { oid: id, sizeBytes: catalog.sizeBytes(location), isLarge: large };
  });
  if (sizeBytes > ENCODED_BYTES_MAX || isLarge) {
    return { oid, sizeBytes, encoding: null, content: null, lfs: undefined };
  }
  const bytes = await objects.readAt(location);
  const lfs = sizeBytes < POINTER_BYTES_MAX ? readLfsPointer(bytes) : undefined;
  return { oid, sizeBytes, encoding: "base64", content: formatBase64(bytes), lfs };
}
