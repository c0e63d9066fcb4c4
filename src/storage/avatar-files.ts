import type { Bucket } from "./bucket.ts";
import { avatarKey } from "./keys.ts";
import type { AvatarFile } from "./repository-records.ts";

/**
 * The images of avatars in the bucket. Each upload writes a file of its own, so a file without
 * references can be deleted without checking for an upload of the same image that is about to refer
 * to it.
 */
export class AvatarFiles {
  private readonly bucket: Bucket;

  constructor(bucket: Bucket) {
    this.bucket = bucket;
  }

  put(file: AvatarFile, bytes: Uint8Array): Promise<void> {
    return this.bucket.put(avatarKey(file), bytes);
  }

  /** Streams the image. */
  open(file: AvatarFile): Promise<ReadableStream> {
    return this.bucket.open(avatarKey(file));
  }

  /** Deletes files and ignores missing ones. At most 1000 per call. */
  delete(files: readonly AvatarFile[]): Promise<void> {
    return this.bucket.delete(files.map(avatarKey));
  }
}
