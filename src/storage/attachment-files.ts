import { createHash } from "node:crypto";

import type { ByteRange } from "../lib/byte-range.ts";
import type { Bucket } from "./bucket.ts";
import { attachmentKey } from "./keys.ts";

/** A file that was stored, as it was received. */
export interface StoredBytes {
  readonly sizeBytes: number;
  /** In hex. */
  readonly sha256: string;
}

/** The files of attachments in the bucket, each under the uuid of its attachment. */
export class AttachmentFiles {
  private readonly bucket: Bucket;

  constructor(bucket: Bucket) {
    this.bucket = bucket;
  }

  /**
   * Streams a file of unknown length into the bucket, and hashes it. If this throws, the file may exist or not.
   */
  async receive(uuid: string, pieces: AsyncIterable<Uint8Array>): Promise<StoredBytes> {
    const upload = this.bucket.startUpload(attachmentKey(uuid));
    const hash = createHash("sha256");
    try {
      for await (const piece of pieces) {
        hash.update(piece);
        await upload.write(piece);
      }
      await upload.finish();
    } catch (error) {
      await upload.abort();
      throw error;
    }
    return { sizeBytes: upload.sizeBytes, sha256: hash.digest("hex") };
  }

  /** Streams the file, or a non-empty range of it. */
  open(uuid: string, range?: ByteRange): Promise<ReadableStream> {
    return this.bucket.open(attachmentKey(uuid), range);
  }

  /** Exactly the bytes from `start` to `end`. */
  read(uuid: string, { start, end }: ByteRange): Promise<Uint8Array> {
    return this.bucket.read(attachmentKey(uuid), start, end);
  }

  /** Deletes files and ignores missing ones. At most 1000 per call. */
  delete(uuids: readonly string[]): Promise<void> {
    return this.bucket.delete(uuids.map(attachmentKey));
  }
}
