import { createHash, type Hash } from "node:crypto";

import type { ByteRange } from "../lib/byte-range.ts";
import { type Bucket, isUploadGone, type SentParts, type Upload } from "./bucket.ts";
import type { DigestName } from "./digest-name.ts";
import { loadHashModules } from "./hash-modules.ts";
import { type HashStates, ResumableHashes } from "./resumable-hash.ts";

/** A file that was stored, as it was received: its size, and its digests in hex. */
export type StoredBytes<D extends DigestName> = { readonly sizeBytes: number } & Digests<D>;

type Digests<D extends DigestName> = { readonly [digest in D]: string };

/**
 * A file of which earlier requests have received a part. All are missing where nothing was
 * received.
 */
export interface PartialFile {
  readonly sent?: SentParts | undefined;
  /** The bytes after the sent parts, fewer than a part: a file of its own. */
  readonly rest?: { readonly uuid: string; readonly sizeBytes: number } | undefined;
  /** The hashes of all that was received, where they can be continued. */
  readonly hashes?: HashStates | undefined;
  /** The digests of all that was received, in hex, where one request has brought it. */
  readonly digests?: Readonly<Partial<Record<DigestName, string>>> | undefined;
}

/** Size of the pieces in which a stored file is hashed, in bytes. */
const HASH_PIECE_BYTES = 1024 * 1024;

/** Files of one kind in the bucket, each under a uuid, which are hashed while they are stored. */
export class HashedFiles<D extends DigestName> {
  private readonly bucket: Bucket;
  private readonly keyOf: (uuid: string) => string;
  private readonly digests: readonly D[];
  private readonly loadModules: typeof loadHashModules;

  /**
   * @param keyOf The key of a file in the bucket.
   * @param loadModules Loads the hash functions for files that come in several requests.
   */
  constructor(
    bucket: Bucket,
    keyOf: (uuid: string) => string,
    digests: readonly D[],
    loadModules = loadHashModules,
  ) {
    this.bucket = bucket;
    this.keyOf = keyOf;
    this.digests = digests;
    this.loadModules = loadModules;
  }

  /**
   * Streams a file of unknown length into the bucket, and hashes it. If this throws, the file may
   * exist or not.
   */
  async receive(uuid: string, pieces: AsyncIterable<Uint8Array>): Promise<StoredBytes<D>> {
    const upload = this.bucket.startUpload(this.keyOf(uuid));
    return this.orAbort(upload, async () => this.finish(upload, await this.write(upload, pieces)));
  }

  /**
   * The same, of pieces that may end before the file does.
   *
   * @param restUuid As `append` has it.
   * @param isWhole  Called at their end. If it is false, `append` and `complete` go on with the
   * part of the file. These read it back once to hash it: the hashes here are native, which can't
   * be continued.
   */
  async receiveOrSuspend(
    uuid: string,
    restUuid: string,
    pieces: AsyncIterable<Uint8Array>,
    isWhole: () => boolean,
  ): Promise<{ stored: StoredBytes<D> } | { partial: PartialFile }> {
    const upload = this.bucket.startUpload(this.keyOf(uuid));
    return this.orAbort(upload, async () => {
      const hashes = await this.write(upload, pieces);
      return isWhole()
        ? { stored: await this.finish(upload, hashes) }
        : { partial: await this.suspend(upload, restUuid) };
    });
  }

  /** Writes and hashes pieces. */
  private async write(upload: Upload, pieces: AsyncIterable<Uint8Array>): Promise<Hash[]> {
    const hashes = this.digests.map((digest) => createHash(digest));
    for await (const piece of pieces) {
      for (const hash of hashes) hash.update(piece);
      await upload.write(piece);
    }
    return hashes;
  }

  private async finish(upload: Upload, hashes: readonly Hash[]): Promise<StoredBytes<D>> {
    await upload.finish();
    return this.toStored(upload.sizeBytes, hashes);
  }

  private async orAbort<T>(upload: Upload, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      await upload.abort();
      throw error;
    }
  }

  /**
   * Appends to a file that is received by several requests, in the memory of `receive`.
   *
   * @param restUuid Where the bytes that fill no part are stored.
   * @param isLikelyWhole Whether the first pieces are likely all: they are hashed natively then,
   *   two to four times as fast, and `complete` reads the file back if others follow.
   */
  async append(
    uuid: string,
    partial: PartialFile,
    restUuid: string,
    pieces: AsyncIterable<Uint8Array>,
    isLikelyWhole = false,
  ): Promise<PartialFile> {
    const upload = this.bucket.startUpload(this.keyOf(uuid), partial.sent);
    const isFirst = !partial.sent && !partial.rest;
    if (isFirst && isLikelyWhole) {
      const digests = this.digestsOf(await this.write(upload, pieces));
      return { ...(await this.suspend(upload, restUuid)), digests };
    }
    if (partial.rest) await upload.write(await this.readRest(partial.rest));
    const hashes = await this.resumeHashes(partial);
    for await (const piece of pieces) {
      hashes?.update(piece);
      await upload.write(piece);
    }
    return { ...(await this.suspend(upload, restUuid)), hashes: hashes?.save() };
  }

  /** Leaves a file unfinished. The bytes that fill no part become a file of their own. */
  private async suspend(
    upload: Upload,
    restUuid: string,
  ): Promise<Pick<PartialFile, "sent" | "rest">> {
    const { sent, rest } = await upload.suspend();
    if (rest.length === 0) return { sent };
    await this.bucket.put(this.keyOf(restUuid), rest);
    return { sent, rest: { uuid: restUuid, sizeBytes: rest.length } };
  }

  /**
   * Finishes a file that several requests have received. May be repeated.
   *
   * @returns Also the file that has the bytes, which is that of the rest if no part was sent;
   * undefined if another request has replaced or discarded a part.
   */
  async complete(
    uuid: string,
    partial: PartialFile,
    sizeBytes: number,
  ): Promise<({ readonly uuid: string } & StoredBytes<D>) | undefined> {
    const { sent, rest } = partial;
    if (!sent && rest) return this.describe(rest.uuid, partial, sizeBytes);
    const key = this.keyOf(uuid);
    const upload = this.bucket.startUpload(key, sent);
    if (rest) await upload.write(await this.readRest(rest));
    try {
      await upload.finish();
    } catch (error) {
      const isFinished = (await this.bucket.findSize(key)) === sizeBytes;
      if (!isFinished && isUploadGone(error)) return undefined;
      if (!isFinished) throw error;
    }
    return this.describe(uuid, partial, sizeBytes);
  }

  /**
   * The hashes of what was received so far; undefined if they can't be continued, so that the file
   * is read back.
   */
  private async resumeHashes({
    sent,
    rest,
    hashes,
  }: PartialFile): Promise<ResumableHashes<D> | undefined> {
    if (!hashes && (sent || rest)) return undefined;
    return ResumableHashes.resume(await this.loadModules(), this.digests, hashes);
  }

  private async describe(uuid: string, partial: PartialFile, sizeBytes: number) {
    const hashes = partial.hashes && (await this.resumeHashes(partial));
    const digests = hashes?.digests() ?? this.pickDigests(partial.digests);
    const stored: StoredBytes<D> = digests ? { sizeBytes, ...digests } : await this.hash(uuid);
    return { uuid, ...stored };
  }

  /** Those of these files; undefined if one is not known. */
  private pickDigests(known: PartialFile["digests"] = {}): Digests<D> | undefined {
    const { digests } = this;
    if (digests.some((digest) => known[digest] === undefined)) return undefined;
    return Object.fromEntries(digests.map((digest) => [digest, known[digest]])) as Digests<D>;
  }

  /** Discards the parts of a file that is not finished. */
  async discard(uuid: string, { sent }: PartialFile): Promise<void> {
    if (sent) await this.bucket.abortUpload(this.keyOf(uuid), sent);
  }

  private readRest({ uuid, sizeBytes }: NonNullable<PartialFile["rest"]>): Promise<Uint8Array> {
    return this.read(uuid, { start: 0, end: sizeBytes });
  }

  /**
   * Hashes a file by reading it back: one whose hashes can't be continued, or are others than these
   * files have.
   */
  private async hash(uuid: string): Promise<StoredBytes<D>> {
    const hashes = this.digests.map((digest) => createHash(digest));
    let sizeBytes = 0;
    for await (const piece of this.bucket.stream(this.keyOf(uuid), HASH_PIECE_BYTES)) {
      for (const hash of hashes) hash.update(piece);
      sizeBytes += piece.length;
    }
    return this.toStored(sizeBytes, hashes);
  }

  private toStored(sizeBytes: number, hashes: readonly Hash[]): StoredBytes<D> {
    return { sizeBytes, ...this.digestsOf(hashes) };
  }

  /** @param hashes In the order of the digests. */
  private digestsOf(hashes: readonly Hash[]): Digests<D> {
    const hexOf = this.digests.map((digest, at) => [digest, hashes[at]?.digest("hex")]);
    return Object.fromEntries(hexOf) as Digests<D>;
  }

  /** Streams a range of the file. */
  open(uuid: string, range: ByteRange): Promise<ReadableStream<Uint8Array>> {
    return this.bucket.openRange(this.keyOf(uuid), range);
  }

  /**
   * The same of a file that may be sent often: a small range comes from a cache close to the
   * Worker.
   */
  openCached(
    { uuid, sizeBytes }: { readonly uuid: string; readonly sizeBytes: number },
    range: ByteRange,
  ): Promise<ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>> {
    return this.bucket.openCached(this.keyOf(uuid), sizeBytes, range);
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
