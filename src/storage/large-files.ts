import { createHash } from "node:crypto";

import type { ByteRange } from "../lib/byte-range.ts";
import { readPieces } from "../lib/read-pieces.ts";
import type { Bucket } from "./bucket.ts";
import { largeFileKey } from "./keys.ts";
import type { LargeFile } from "./repository-records.ts";

/** Bytes that the platform takes in one put. */
const PUT_BYTES_MAX = 4_990_000_000;
/** Pieces that a longer file is read in, in bytes. */
const PIECE_BYTES = 256 * 1024;

/**
 * Large files in the bucket. Each upload has a file of its own, whatever else is there: what nobody
 * has any more can be removed without a look at who is just about to have it.
 */
export class LargeFiles {
  private readonly bucket: Bucket;

  constructor(bucket: Bucket) {
    this.bucket = bucket;
  }

  /**
   * Stores bytes as they come, if they are what they should be. The bucket itself compares the hash
   * as it writes, so that nothing is held; a file that is too long for one put goes in parts, of
   * which two are held.
   *
   * @returns False if the bytes are others, or more, or fewer. Something may have been written, also
   * where it throws.
   */
  async receive(
    file: LargeFile,
    sizeBytes: number,
    body: ReadableStream<Uint8Array>,
    putBytesMax = PUT_BYTES_MAX,
  ): Promise<boolean> {
    if (sizeBytes > putBytesMax) return this.receiveParts(file, sizeBytes, body);
    const { readable, writable } = new FixedLengthStream(sizeBytes);
    const piped = body.pipeTo(writable);
    // Awaited below, unless the bucket's own word comes first.
    piped.catch(ignore);
    try {
      // SECURITY: the bucket refuses bytes of another hash, and the stream those of another length.
      const { size } = await this.bucket.putStream(largeFileKey(file), readable, file.oid);
      await piped;
      return size === sizeBytes;
    } catch (error) {
      if (isMismatch(error)) return false;
      throw error;
    }
  }

  private async receiveParts(
    file: LargeFile,
    sizeBytes: number,
    body: ReadableStream<Uint8Array>,
  ): Promise<boolean> {
    const upload = this.bucket.startUpload(largeFileKey(file));
    const hash = createHash("sha256");
    let isWhole = false;
    try {
      for await (const piece of readPieces(body, PIECE_BYTES)) {
        if (upload.sizeBytes + piece.length > sizeBytes) return false;
        hash.update(piece);
        await upload.write(piece);
      }
      isWhole = upload.sizeBytes === sizeBytes && hash.digest("hex") === file.oid;
      if (isWhole) await upload.finish();
      return isWhole;
    } finally {
      if (!isWhole) await upload.abort();
    }
  }

  /** The bytes, or a part of them that holds some. */
  open(file: LargeFile, range?: ByteRange): Promise<ReadableStream> {
    return this.bucket.open(largeFileKey(file), range);
  }

  /** The bytes in pieces of `pieceBytes`. */
  stream(file: LargeFile, pieceBytes: number): AsyncGenerator<Uint8Array> {
    return this.bucket.stream(largeFileKey(file), pieceBytes);
  }

  /** Removes files; those that are not there are passed over. At most 1000 at once. */
  delete(files: readonly LargeFile[]): Promise<void> {
    return this.bucket.delete(files.map(largeFileKey));
  }
}

/** Whether the bucket refused a hash, or the stream in front of it a length. */
function isMismatch(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return /\(10037\)|FixedLengthStream/.test(error.message);
}

const ignore = (): void => {};
