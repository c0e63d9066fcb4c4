import { createHash } from "node:crypto";

import type { ByteRange } from "../lib/byte-range.ts";
import { readPieces } from "../lib/read-pieces.ts";
import { streamOf } from "../lib/stream-of.ts";
import type { Bucket } from "./bucket.ts";
import { largeFileKey } from "./keys.ts";
import type { LargeFile } from "./repository-records.ts";

/** Pieces that a file is read in, in bytes. */
const PIECE_BYTES = 256 * 1024;

/** How a file is written. */
interface Writing {
  /** Bytes of a file at most that is put at once, as the bucket likes best to give it again. */
  putBytesMax: number;
  /** Bytes of each part of a longer one, in whole pieces. The platform takes 10,000 parts. */
  partBytes: number;
}
const WRITING: Writing = { putBytesMax: 4_990_000_000, partBytes: 128 * PIECE_BYTES };

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
   * Stores bytes as they come, if they are what they should be; a piece or two are held at most.
   *
   * @returns False if the bytes are others, or more, or fewer. Something may have been written then,
   * and also where it throws.
   */
  async receive(
    file: LargeFile,
    sizeBytes: number,
    body: ReadableStream<Uint8Array>,
    { putBytesMax, partBytes } = WRITING,
  ): Promise<boolean> {
    try {
      return sizeBytes > putBytesMax
        ? await this.receiveParts(file, sizeBytes, body, partBytes)
        : await this.receiveWhole(file, sizeBytes, body);
    } catch (error) {
      if (isMismatch(error)) return false;
      throw error;
    }
  }

  /** SECURITY: the bucket refuses bytes of another hash, and the stream those of another length. */
  private async receiveWhole(
    file: LargeFile,
    sizeBytes: number,
    body: ReadableStream<Uint8Array>,
  ): Promise<boolean> {
    const { readable, writable } = new FixedLengthStream(sizeBytes);
    const piped = body.pipeTo(writable);
    // Awaited below, unless the bucket's own word comes first.
    piped.catch(ignore);
    const { size } = await this.bucket.putStream(largeFileKey(file), readable, file.oid);
    await piped;
    return size === sizeBytes;
  }

  /** SECURITY: the bucket hashes parts only, so the whole is hashed on its way. */
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
    const isRight = async () =>
      (await pieces.next()).done === true && hash.digest("hex") === file.oid;
    try {
      return await this.bucket.putParts(largeFileKey(file), cut(), isRight);
    } finally {
      await pieces.return(undefined);
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
