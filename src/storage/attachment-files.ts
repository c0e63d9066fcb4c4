import type { ByteRange } from "../lib/byte-range.ts";
import type { Bucket } from "./bucket.ts";
import { attachmentKey } from "./keys.ts";

/** The files of attachments in the bucket, each under the uuid of its attachment. */
export class AttachmentFiles {
  private readonly bucket: Bucket;

  constructor(bucket: Bucket) {
    this.bucket = bucket;
  }

  /**
   * Streams a file of unknown length into the bucket. If this throws, the file may exist or not.
   *
   * @returns Its size in bytes.
   */
  async receive(uuid: string, pieces: AsyncIterable<Uint8Array>): Promise<number> {
    const upload = this.bucket.startUpload(attachmentKey(uuid));
    try {
      for await (const piece of pieces) await upload.write(piece);
      await upload.finish();
    } catch (error) {
      await upload.abort();
      throw error;
    }
    return upload.sizeBytes;
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
