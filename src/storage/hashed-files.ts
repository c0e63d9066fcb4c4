import { createHash } from "node:crypto";

import type { ByteRange } from "../lib/byte-range.ts";
import type { Bucket } from "./bucket.ts";

export type DigestName = "md5" | "sha1" | "sha256" | "sha512";

/** A file that was stored, as it was received: its size, and its digests in hex. */
export type StoredBytes<D extends DigestName> = { readonly sizeBytes: number } & {
  readonly [digest in D]: string;
};

/** Files of one kind in the bucket, each under a uuid, which are hashed while they are stored. */
export class HashedFiles<D extends DigestName> {
  private readonly bucket: Bucket;
  private readonly keyOf: (uuid: string) => string;
  private readonly digests: readonly D[];

  /** @param keyOf The key of a file in the bucket. */
  constructor(bucket: Bucket, keyOf: (uuid: string) => string, digests: readonly D[]) {
    this.bucket = bucket;
    this.keyOf = keyOf;
    this.digests = digests;
  }

  /**
   * Streams a file of unknown length into the bucket, and hashes it. If this throws, the file may exist or not.
   */
  async receive(uuid: string, pieces: AsyncIterable<Uint8Array>): Promise<StoredBytes<D>> {
    const upload = this.bucket.startUpload(this.keyOf(uuid));
    const hashes = this.digests.map((digest) => createHash(digest));
    try {
      for await (const piece of pieces) {
        for (const hash of hashes) hash.update(piece);
        await upload.write(piece);
      }
      await upload.finish();
    } catch (error) {
      await upload.abort();
      throw error;
    }
    const hexOf = this.digests.map((digest, at) => [digest, hashes[at]?.digest("hex")]);
    return { sizeBytes: upload.sizeBytes, ...Object.fromEntries(hexOf) } as StoredBytes<D>;
  }

  /** Streams the file, or a non-empty range of it. */
  open(uuid: string, range?: ByteRange): Promise<ReadableStream> {
    return this.bucket.open(this.keyOf(uuid), range);
  }

  /** Exactly the bytes from `start` to `end`. */
  read(uuid: string, { start, end }: ByteRange): Promise<Uint8Array> {
    return this.bucket.read(this.keyOf(uuid), start, end);
  }

  /** Deletes files and ignores missing ones. At most 1000 per call. */
  delete(uuids: readonly string[]): Promise<void> {
    return this.bucket.delete(uuids.map(this.keyOf));
  }
}
