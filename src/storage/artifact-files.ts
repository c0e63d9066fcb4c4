import type { ByteRange } from "../lib/byte-range.ts";
import type { Bucket } from "./bucket.ts";
import { artifactPartKey, artifactPrefix } from "./keys.ts";

/** A part of a file of an artifact. */
export interface StoredPart {
  readonly uuid: string;
  readonly sizeBytes: number;
}

/** The files of artifacts in the bucket, each in parts. */
export class ArtifactFiles {
  private readonly bucket: Bucket;

  constructor(bucket: Bucket) {
    this.bucket = bucket;
  }

  /**
   * Streams a part into the bucket.
   *
   * @param md5 The expected hash; undefined where the client states none.
   * @returns False if the length or the hash differs. It may exist then, as well as when this
   *   throws.
   */
  receive(
    artifactId: number,
    { uuid, sizeBytes }: StoredPart,
    body: ReadableStream<Uint8Array>,
    md5: Uint8Array<ArrayBuffer> | undefined,
  ): Promise<boolean> {
    const key = artifactPartKey(artifactId, uuid);
    return this.bucket.putBody(key, sizeBytes, body, md5 ? { md5 } : {});
  }

  /**
   * Streams a range of the file that has these parts, in their order. Cost: a read for each part
   * and each 16 MiB of it.
   */
  open(
    artifactId: number,
    parts: readonly StoredPart[],
    { start, end }: ByteRange,
  ): Promise<ReadableStream<Uint8Array>> {
    let at = 0;
    const spans = parts.flatMap(({ uuid, sizeBytes }) => {
      const from = Math.max(0, start - at);
      const to = Math.min(sizeBytes, end - at);
      at += sizeBytes;
      return from < to ? [{ key: artifactPartKey(artifactId, uuid), start: from, end: to }] : [];
    });
    return this.bucket.openSpans(spans);
  }

  /** Deletes parts and ignores missing ones. At most 1000 per call. */
  delete(artifactId: number, uuids: readonly string[]): Promise<void> {
    return this.bucket.delete(uuids.map((uuid) => artifactPartKey(artifactId, uuid)));
  }

  /** Deletes all parts of an artifact. */
  deleteArtifact(artifactId: number): Promise<void> {
    return this.bucket.deleteAll(artifactPrefix(artifactId));
  }
}
