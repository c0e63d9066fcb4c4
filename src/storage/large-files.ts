import { createHash } from "node:crypto";

import type { ByteRange } from "../lib/byte-range.ts";
import { readPieces } from "../lib/read-pieces.ts";
import { streamOf } from "../lib/stream-of.ts";
import { type Bucket, isMismatch } from "./bucket.ts";
import { largeFileKey } from "./keys.ts";
import type { LargeFile } from "./repository-records.ts";

/** Size of the pieces in which a file is read, in bytes. */
const PIECE_BYTES = 256 * 1024;

/** The sizes by which a file is written. */
interface WriteLimits {
  /** Maximum bytes of a file written by one put, the form that the bucket reads back fastest. */
  putBytesMax: number;
  /**
   * Bytes of each part of a larger file, a multiple of the piece size. The platform allows 10,000
   * parts.
   */
  partBytes: number;
}
const WRITE_LIMITS: WriteLimits = { putBytesMax: 4_990_000_000, partBytes: 128 * PIECE_BYTES };

/**
 * Large files in the bucket. Each upload writes a file of its own, even if the same content is
 * already stored: an unreferenced file can be deleted without checking for an upload that is about
 * to reference it.
 */
export class LargeFiles {
  private readonly bucket: Bucket;

  constructor(bucket: Bucket) {
    this.bucket = bucket;
  }

  /**
   * Streams a file into the bucket and verifies its hash and length. Buffers at most two pieces.
   *
   * @returns False if the hash or the length differs. A file may have been written then, as well as
   * when this throws.
   */
  async receive(
    file: LargeFile,
    sizeBytes: number,
    body: ReadableStream<Uint8Array>,
    { putBytesMax, partBytes } = WRITE_LIMITS,
  ): Promise<boolean> {
    try {
      return sizeBytes > putBytesMax
        ? await this.receiveParts(file, sizeBytes, body, partBytes)
        : await this.receiveByPut(file, sizeBytes, body);
    } catch (error) {
      if (isMismatch(error)) return false;
      throw error;
    }
  }

  /** SECURITY: the bucket refuses bytes with another hash, and FixedLengthStream another length. */
  private receiveByPut(
    file: LargeFile,
    sizeBytes: number,
    body: ReadableStream<Uint8Array>,
  ): Promise<boolean> {
    return this.bucket.putBody(largeFileKey(file), sizeBytes, body, { sha256: file.oid });
  }

  /** SECURITY: the bucket hashes only parts, so the file is hashed here while it streams. */
  private async receiveParts(
    file: LargeFile,
    sizeBytes: number,
    body: ReadableStream<Uint8Array>,
    partBytes: number,
  ): Promise<boolean> {
    const pieces = readPieces(body, PIECE_BYTES);
    const hash = createHash("sha256");
    async function* take(bytes: number): AsyncGenerator<Uint8Array> {
      for (let left = bytes; left > 0;) {
        const { value, done } = await pieces.next();
        if (done) return;
        hash.update(value);
        left -= value.length;
        yield value;
      }
    }
    async function* cut(): AsyncGenerator<ReadableStream> {
      for (let at = 0; at < sizeBytes; at += partBytes) {
        const bytes = Math.min(partBytes, sizeBytes - at);
        yield streamOf(take(bytes), ignore).pipeThrough(new FixedLengthStream(bytes));
      }
    }
    const verify = async () =>
      (await pieces.next()).done === true && hash.digest("hex") === file.oid;
    try {
      return await this.bucket.putParts(largeFileKey(file), cut(), verify);
    } finally {
      await pieces.return(undefined);
    }
  }

  /** Streams a range of the file. */
  open(file: LargeFile, range: ByteRange): Promise<ReadableStream<Uint8Array>> {
    return this.bucket.openRange(largeFileKey(file), range);
  }

  /** Streams the file in pieces of `pieceBytes`. */
  stream(file: LargeFile, pieceBytes: number): AsyncGenerator<Uint8Array> {
    return this.bucket.stream(largeFileKey(file), pieceBytes);
  }

  /** Deletes files and ignores missing ones. At most 1000 per call. */
  delete(files: readonly LargeFile[]): Promise<void> {
    return this.bucket.delete(files.map(largeFileKey));
  }
}

const ignore = (): void => {};
