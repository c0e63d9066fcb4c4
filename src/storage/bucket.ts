import type { ByteSource, Gauge } from "../git/store.ts";
import type { ByteRange } from "../lib/byte-range.ts";
import { readPieces, readSpacedPieces } from "../lib/read-pieces.ts";
import { LruCache } from "../lib/lru-cache.ts";
import { Semaphore } from "./semaphore.ts";
import type { StorageUsage } from "./storage-usage.ts";

/**
 * Concurrent reads of one request. The platform allows six connections; one stays free for
 * everything else.
 */
const READS_MAX = 5;

/** Size of a part of a multipart upload, in bytes. All parts but the last have this size. */
const PART_BYTES = 8 * 1024 * 1024;

/**
 * Size of the ranges by which a large file is sent, in bytes: 256 reads for 4 GB.
 *
 * The local runtime reads ahead of a slow client, to the end of what it was asked for: it held 500
 * MB of a layer of 512 MB that was asked for at once.
 */
const SPAN_BYTES = 16 * 1024 * 1024;

/** Size of a block, in bytes. Small reads are served from blocks. */
const BLOCK_BYTES = 64 * 1024;
/** Longer reads scan a file: they neither use the block cache nor evict from it. */
const BLOCK_READ_BYTES_MAX = 256 * 1024;
/**
 * Misses in the file cache after which a request stops using the cache. A request with more misses
 * scans a file, and a lookup and a store for each block would only slow the scan down.
 */
const CACHE_MISSES_MAX = 32;
/**
 * Blocks that are read at once where reads follow each other in a file, at most: each goes as far
 * again as the one before it.
 */
const RUN_BLOCKS_MAX = 16;
/** The isolate's block cache, bounded in bytes. Files never change, so a block is never stale. */
const blocks = new LruCache<Uint8Array>(16 * 1024 * 1024);

/** A cache of small immutable files close to the Worker. It may evict any file at any time. */
export interface FileCache {
  /** The bytes under `key`; undefined on a miss, or if `length` is given and differs. */
  get(key: string, length?: number): Promise<Uint8Array | undefined>;
  /** The same as a stream of bytes, for a file that need not be small. */
  open(key: string): Promise<ReadableStream<Uint8Array> | undefined>;
  put(key: string, bytes: Uint8Array): void;
}

/** The key of a block in the file cache. */
const blockKey = (key: string, block: number): string => `${key}/${block}`;

/** The bucket as one request uses it, with a bounded number of concurrent calls. */
export class Bucket {
  private readonly bucket: R2Bucket;
  private readonly cache: FileCache;
  private readonly usage: StorageUsage;
  private readonly semaphore: Semaphore;
  /**
   * Bytes that the block cache already held when the request began; they are not counted for it.
   */
  private readonly blockBytesBefore = blocks.heldBytes;
  private readonly gaugeBlocks: Gauge;
  private cacheMisses = 0;
  /** The lengths of the request's reads, in blocks, by the block after each. */
  private readonly runs = new Map<string, number>();

  /** @param before Awaited before each call, if given. */
  constructor(
    bucket: R2Bucket,
    usage: StorageUsage,
    cache: FileCache,
    before?: () => Promise<void>,
  ) {
    this.bucket = bucket;
    this.cache = cache;
    this.usage = usage;
    this.gaugeBlocks = usage.gauge();
    this.semaphore = new Semaphore(READS_MAX, () => usage.beginR2(), before);
  }

  /** A gauge for bytes that a caller keeps in memory. */
  openGauge(): Gauge {
    return this.usage.gauge();
  }

  /** Random access to a file of known length. Reads nothing yet. */
  source(key: string, sizeBytes: number): ByteSource {
    return {
      sizeBytes,
      read: async (start, end) => {
        if (start < 0 || end > sizeBytes) throw new Error("a read beyond the end of a file");
        return end - start > BLOCK_READ_BYTES_MAX
          ? this.read(key, start, end)
          : this.readBlocks(key, sizeBytes, start, end);
      },
      stream: (start, end, spacing) =>
        this.streamBy(
          key,
          { start, end },
          spacing.count * (spacing.gapBytes + spacing.pieceBytes),
          (body) => readSpacedPieces(body, end - start, spacing),
        ),
    };
  }

  /**
   * Keeps the bytes of a small file that is stored in the isolate's block cache: its first readers
   * come soon.
   */
  keep(key: string, bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += BLOCK_BYTES) {
      const block = bytes.slice(at, at + BLOCK_BYTES);
      blocks.set(`${key}#${at / BLOCK_BYTES}`, block, block.length);
    }
  }

  /** Exactly the bytes `start` to `end`. */
  read(key: string, start: number, end: number): Promise<Uint8Array> {
    if (start === end) return Promise.resolve(new Uint8Array(0));
    return this.semaphore.run(async () => {
      const range = { offset: start, length: end - start };
      this.usage.hold(end - start);
      try {
        const object = await this.bucket.get(key, { range });
        if (!object) throw new Error("a file of a pack is gone");
        const bytes = new Uint8Array(await object.arrayBuffer());
        if (bytes.length !== end - start) throw new Error("a file of a pack is cut off");
        return bytes;
      } finally {
        // From here on the caller counts the bytes.
        this.usage.hold(start - end);
      }
    });
  }

  /** Reads a small file of known length, from the file cache if it is there. */
  async readFile(key: string, sizeBytes: number): Promise<Uint8Array> {
    const cached = await this.cache.get(key, sizeBytes);
    if (cached) return cached;
    const bytes = await this.read(key, 0, sizeBytes);
    this.cache.put(key, bytes);
    return bytes;
  }

  /** Reads a range of a file, from the file cache if it is there as a whole. */
  async readRange(key: string, start: number, end: number): Promise<Uint8Array> {
    const name = `${key}/${start}-${end}`;
    const cached = await this.cache.get(name, end - start);
    if (cached) return cached;
    const bytes = await this.read(key, start, end);
    if (bytes.length > 0) this.cache.put(name, bytes);
    return bytes;
  }

  private async readBlocks(
    key: string,
    sizeBytes: number,
    start: number,
    end: number,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const first = Math.floor(start / BLOCK_BYTES);
    const last = Math.ceil(end / BLOCK_BYTES);
    const found: (Uint8Array | undefined)[] = [];
    for (let block = first; block < last; block++) found.push(blocks.get(`${key}#${block}`));
    const missing = found.indexOf(undefined);
    if (missing >= 0) {
      // One range from the first to the last missing block, including cached blocks between them.
      const until = first + found.lastIndexOf(undefined) + 1;
      const from = first + missing;
      const runEnd = this.findRunEnd(key, sizeBytes, from, until);
      const fetched = await this.fetchBlocks(key, sizeBytes, from, runEnd);
      for (const [at, block] of fetched.entries()) {
        if (from + at < until) found[missing + at] = block;
        blocks.set(`${key}#${from + at}`, block, block.length);
      }
      this.runs.set(`${key}#${runEnd}`, runEnd - from);
      this.gaugeBlocks(Math.max(0, blocks.heldBytes - this.blockBytesBefore));
    }
    const result = new Uint8Array(end - start);
    for (const [at, block] of found.entries()) {
      const blockStart = (first + at) * BLOCK_BYTES;
      const piece = block?.subarray(Math.max(0, start - blockStart), end - blockStart);
      if (piece) result.set(piece, Math.max(0, blockStart - start));
    }
    return result;
  }

  /**
   * The end of a read of the blocks `from` to `until` (exclusive): beyond `until` if an earlier
   * read of the request has ended at `from`, since walks over history read a file from front to
   * back.
   */
  private findRunEnd(key: string, sizeBytes: number, from: number, until: number): number {
    const before = this.runs.get(`${key}#${from}`) ?? 0;
    const furthest = from + Math.min(2 * before, RUN_BLOCKS_MAX);
    const last = Math.min(furthest, Math.ceil(sizeBytes / BLOCK_BYTES));
    let end = until;
    while (end < last && !blocks.get(`${key}#${end}`)) end++;
    return end;
  }

  /**
   * Blocks `first` to `last` (exclusive) of a file: from the file cache if it has all, else by one
   * read.
   */
  private async fetchBlocks(
    key: string,
    sizeBytes: number,
    first: number,
    last: number,
  ): Promise<Uint8Array[]> {
    const numbers = Array.from({ length: last - first }, (_, at) => first + at);
    const end = (block: number): number => Math.min(sizeBytes, (block + 1) * BLOCK_BYTES);
    const usesCache = this.cacheMisses < CACHE_MISSES_MAX;
    if (usesCache) {
      const lookups = numbers.map((block) =>
        this.cache.get(blockKey(key, block), end(block) - block * BLOCK_BYTES),
      );
      const cached = (await Promise.all(lookups)).filter((block) => block !== undefined);
      if (cached.length === numbers.length) return cached;
      this.cacheMisses += numbers.length - cached.length;
    }
    const from = first * BLOCK_BYTES;
    const bytes = await this.read(key, from, end(last - 1));
    return numbers.map((block) => {
      const content = bytes.slice(block * BLOCK_BYTES - from, end(block) - from);
      if (usesCache) this.cache.put(blockKey(key, block), content);
      return content;
    });
  }

  /** Streams the file from start to end in pieces of `pieceBytes`, over one connection. */
  stream(key: string, pieceBytes: number): AsyncGenerator<Uint8Array> {
    return this.streamBy(key, undefined, pieceBytes, (body) => readPieces(body, pieceBytes));
  }

  /**
   * Opens a file to be sent between other bytes; undefined if it is gone, or of another size.
   *
   * @returns Streams all of it, once. Calls `onEnd` with the number of bytes that were sent.
   */
  async openWithin(key: string, sizeBytes: number): Promise<SendWithin | undefined> {
    const reads = cutSpans([{ key, start: 0, end: sizeBytes }]);
    const { start, end } = reads.next().value as FileSpan;
    const range = { offset: start, length: end - start };
    const object = await this.semaphore.run(() => this.bucket.get(key, { range }));
    if (object?.size !== sizeBytes) {
      await object?.body.cancel();
      return undefined;
    }
    return (before, after, onEnd) => {
      const bytes = before.length + sizeBytes + after.length;
      const { readable, writable } = new FixedLengthStream(bytes);
      const sending = this.sendSpans(object.body, () => this.readNext(reads), writable, {
        before,
        after,
      });
      void sending.then((isSent) => onEnd(isSent ? bytes : 0));
      return readable;
    };
  }

  private async *streamBy(
    key: string,
    range: ByteRange | undefined,
    bufferBytes: number,
    read: (body: ReadableStream<Uint8Array>) => AsyncGenerator<Uint8Array>,
  ): AsyncGenerator<Uint8Array> {
    yield* this.send(await this.get(key, range), bufferBytes, read);
  }

  private async *send(
    body: ReadableStream<Uint8Array>,
    bufferBytes: number,
    read: (body: ReadableStream<Uint8Array>) => AsyncGenerator<Uint8Array>,
  ): AsyncGenerator<Uint8Array> {
    // Two buffers: one being read and one being sent.
    this.usage.hold(2 * bufferBytes);
    try {
      yield* read(body);
    } finally {
      this.usage.hold(-2 * bufferBytes);
    }
  }

  /** Streams the file without buffering. For small files, see `openRange`. */
  open(key: string): Promise<ReadableStream<Uint8Array>> {
    return this.get(key);
  }

  /**
   * Streams a range of a file: by several reads if it is long, of which the next one begins when
   * the one before is being sent. What is read ahead of the client is bounded so.
   */
  openRange(key: string, range: ByteRange): Promise<ReadableStream<Uint8Array>> {
    return this.openSpans([{ key, ...range }]);
  }

  /** The same of ranges of several files, one after the other. */
  async openSpans(spans: readonly FileSpan[]): Promise<ReadableStream<Uint8Array>> {
    const reads = cutSpans(spans);
    const next = () => this.readNext(reads);
    const first = await next();
    if (!first) return new Blob([]).stream();
    const sizeBytes = spans.reduce((sum, { start, end }) => sum + end - start, 0);
    if (sizeBytes <= SPAN_BYTES && spans.length === 1) return first;
    const { readable, writable } = new FixedLengthStream(sizeBytes);
    void this.sendSpans(first, next, writable);
    return readable;
  }

  private readNext(
    reads: Generator<FileSpan, undefined>,
  ): Promise<ReadableStream<Uint8Array>> | undefined {
    const { value, done } = reads.next();
    return done ? undefined : this.get(value.key, value);
  }

  /**
   * Sends spans; if a read fails, or the reader cancels, the stream fails. @returns Whether all was
   * sent.
   */
  private async sendSpans(
    first: ReadableStream<Uint8Array>,
    read: () => Promise<ReadableStream<Uint8Array>> | undefined,
    writable: WritableStream<Uint8Array>,
    { before, after }: { before?: Uint8Array; after?: Uint8Array } = {},
  ): Promise<boolean> {
    let next: Promise<ReadableStream<Uint8Array>> | undefined = Promise.resolve(first);
    // One that is being sent and one that is being read.
    this.usage.hold(2 * SPAN_BYTES);
    try {
      if (before) await writeBytes(writable, before);
      while (next) {
        const span: ReadableStream<Uint8Array> = await next;
        next = read();
        // Awaited later; this avoids an unhandled rejection until then.
        next?.catch(ignore);
        await span.pipeTo(writable, { preventClose: true });
      }
      if (after) await writeBytes(writable, after);
      await writable.close();
      return true;
    } catch (error) {
      await writable.abort(error).catch(ignore);
      await next?.then((span) => span.cancel()).catch(ignore);
      return false;
    } finally {
      this.usage.hold(-2 * SPAN_BYTES);
    }
  }

  private async get(key: string, range?: ByteRange): Promise<ReadableStream<Uint8Array>> {
    const options = range && { range: { offset: range.start, length: range.end - range.start } };
    const object = await this.semaphore.run(() => this.bucket.get(key, options));
    if (!object) throw new Error("a stored file is gone");
    return object.body;
  }

  /**
   * A range of a file of known size, to be sent: a small one in memory, from cached blocks where
   * these are, else streamed.
   */
  async openCached(
    key: string,
    sizeBytes: number,
    range: ByteRange,
  ): Promise<ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>> {
    const { start, end } = range;
    if (end - start > BLOCK_READ_BYTES_MAX) return this.openRange(key, range);
    return this.readBlocks(key, sizeBytes, start, end);
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    await this.semaphore.run(() => this.bucket.put(key, bytes));
  }

  /**
   * Streams a file into the bucket without buffering. If this is false or throws, the file may
   * exist or not.
   *
   * @param hashes The expected hash; the bucket refuses bytes with another one.
   * @returns False if the length or the hash differs.
   */
  async putBody(
    key: string,
    sizeBytes: number,
    body: ReadableStream<Uint8Array>,
    hashes: Pick<R2PutOptions, "md5" | "sha256">,
  ): Promise<boolean> {
    const { readable, writable } = new FixedLengthStream(sizeBytes);
    const piped = body.pipeTo(writable);
    // Awaited below, unless the put fails first; this avoids an unhandled rejection then.
    piped.catch(ignore);
    try {
      const { size } = await this.semaphore.run(() => this.bucket.put(key, readable, hashes));
      await piped;
      return size === sizeBytes;
    } catch (error) {
      if (isMismatch(error)) return false;
      throw error;
    }
  }

  /**
   * Writes a file by a multipart upload of streamed parts, one after the other. All parts but the
   * last must have the same length. The file exists only after this returned true.
   *
   * @param verify Called after all parts are written; false aborts the upload.
   * @returns Whether the file was stored.
   */
  async putParts(
    key: string,
    parts: AsyncIterable<ReadableStream>,
    verify: () => Promise<boolean>,
  ): Promise<boolean> {
    const upload = await this.semaphore.run(() => this.bucket.createMultipartUpload(key));
    let isComplete = false;
    try {
      const sent: R2UploadedPart[] = [];
      for await (const part of parts) {
        const number = sent.length + 1;
        sent.push(await this.semaphore.run(() => upload.uploadPart(number, part)));
      }
      if (!(await verify())) return false;
      await this.semaphore.run(() => upload.complete(sent));
      isComplete = true;
      return true;
    } finally {
      if (!isComplete) await this.semaphore.run(() => upload.abort());
    }
  }

  /**
   * Begins a file of unknown length, or continues one that an earlier request has suspended.
   *
   * @param sent What `suspend` returned, of the same key.
   */
  startUpload(key: string, sent?: SentParts): Upload {
    return new Upload(this.bucket, this.semaphore, { key, sent }, this.usage.gauge());
  }

  /**
   * Discards the parts of a suspended file. One that is finished or discarded already is ignored.
   */
  async abortUpload(key: string, { uploadId }: SentParts): Promise<void> {
    const upload = this.bucket.resumeMultipartUpload(key, uploadId);
    try {
      await this.semaphore.run(() => upload.abort());
    } catch (error) {
      if (!isUploadGone(error)) throw error;
    }
  }

  /** All bytes of a small file; undefined if there is none. */
  readWhole(key: string): Promise<Uint8Array | undefined> {
    return this.semaphore.run(async () => {
      const object = await this.bucket.get(key);
      return object ? new Uint8Array(await object.arrayBuffer()) : undefined;
    });
  }

  /** The size of a file in bytes; undefined if there is none. */
  async findSize(key: string): Promise<number | undefined> {
    const object = await this.semaphore.run(() => this.bucket.head(key));
    return object?.size;
  }

  /** Deletes files and ignores missing ones. */
  async delete(keys: readonly string[]): Promise<void> {
    if (keys.length > 0) await this.semaphore.run(() => this.bucket.delete([...keys]));
  }

  /**
   * Deletes all files with a prefix.
   *
   * @param end Only those whose keys come before this one.
   */
  async deleteAll(prefix: string, end?: string): Promise<void> {
    for (;;) {
      const { objects, truncated } = await this.semaphore.run(() => this.bucket.list({ prefix }));
      const keys = objects.map(({ key }) => key);
      const deleted = end === undefined ? keys : keys.filter((key) => key < end);
      await this.delete(deleted);
      if (!truncated || deleted.length < keys.length) return;
    }
  }
}

/** Streams a file between other bytes. */
export type SendWithin = (
  before: Uint8Array,
  after: Uint8Array,
  onEnd: (sentBytes: number) => void,
) => ReadableStream<Uint8Array>;

async function writeBytes(writable: WritableStream<Uint8Array>, bytes: Uint8Array): Promise<void> {
  const writer = writable.getWriter();
  try {
    await writer.write(bytes);
  } finally {
    writer.releaseLock();
  }
}

/** A range of a file. */
export interface FileSpan extends ByteRange {
  readonly key: string;
}

/** The same bytes in ranges of at most `SPAN_BYTES`, without empty ones. */
function* cutSpans(spans: readonly FileSpan[]): Generator<FileSpan, undefined> {
  for (const { key, start, end } of spans) {
    for (let at = start; at < end; at += SPAN_BYTES) {
      yield { key, start: at, end: Math.min(end, at + SPAN_BYTES) };
    }
  }
  return undefined;
}

/** The parts of an unfinished file that were sent. */
export interface SentParts {
  readonly uploadId: string;
  /** The entity tags of the parts, in order. Each part has the same size. */
  readonly etags: readonly string[];
}

/** Whether R2 refuses the call because the upload, or one of its parts, does not exist any more. */
export const isUploadGone = (error: unknown): boolean =>
  error instanceof Error && /\((?:10024|10025)\)/.test(error.message);

/** Whether the bucket refused the hash, or FixedLengthStream the length. */
export function isMismatch(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return /\(10037\)|FixedLengthStream/.test(error.message);
}

/**
 * A file of unknown length: written by one put if it fits one part, by a multipart upload
 * otherwise.
 *
 * Buffers two parts at most, one being filled and one being sent. The file exists only after
 * `finish`.
 */
export class Upload {
  sizeBytes = 0;
  private readonly bucket: R2Bucket;
  private readonly semaphore: Semaphore;
  private readonly key: string;
  private part = new Uint8Array(0);
  private partBytes = 0;
  private upload: R2MultipartUpload | undefined;
  private isFinished = false;
  private readonly parts: R2UploadedPart[] = [];
  private sending: Promise<unknown> = Promise.resolve();
  /** Bytes of the part being sent. */
  private sendingBytes = 0;
  private readonly gauge: Gauge;

  constructor(
    bucket: R2Bucket,
    semaphore: Semaphore,
    { key, sent }: { key: string; sent?: SentParts | undefined },
    gauge: Gauge,
  ) {
    this.bucket = bucket;
    this.semaphore = semaphore;
    this.key = key;
    this.gauge = gauge;
    if (!sent) return;
    this.upload = bucket.resumeMultipartUpload(key, sent.uploadId);
    this.parts.push(...sent.etags.map((etag, at) => ({ partNumber: at + 1, etag })));
  }

  /** Appends bytes. They are copied. */
  async write(bytes: Uint8Array): Promise<void> {
    this.sizeBytes += bytes.length;
    for (let at = 0; at < bytes.length;) {
      if (this.partBytes === PART_BYTES) await this.sendPart();
      const taken = bytes.subarray(at, at + PART_BYTES - this.partBytes);
      this.makeRoom(this.partBytes + taken.length);
      this.part.set(taken, this.partBytes);
      this.partBytes += taken.length;
      at += taken.length;
    }
  }

  /**
   * Everything written so far, a view while it is still in memory; undefined once a part was sent.
   */
  bufferedBytes(): Uint8Array | undefined {
    return this.upload ? undefined : this.part.subarray(0, this.partBytes);
  }

  /** Stores the file: it exists when this resolves. */
  async finish(): Promise<void> {
    if (this.isFinished) return;
    this.isFinished = true;
    const rest = this.part.subarray(0, this.partBytes);
    if (!this.upload) {
      await this.semaphore.run(() => this.bucket.put(this.key, rest));
      return;
    }
    if (rest.length > 0) await this.sendPart();
    await this.sending;
    const { upload, parts } = this;
    await this.semaphore.run(() => upload.complete(parts));
  }

  /**
   * Sends the full parts, and leaves the file unfinished.
   *
   * @returns What was sent, undefined if nothing was; and the bytes after that, fewer than a part:
   * the caller writes them again when it continues.
   */
  async suspend(): Promise<{ sent: SentParts | undefined; rest: Uint8Array }> {
    if (this.partBytes === PART_BYTES) await this.sendPart();
    await this.sending;
    const rest = this.part.subarray(0, this.partBytes);
    const etags = this.parts.map(({ etag }) => etag);
    return { sent: this.upload && { uploadId: this.upload.uploadId, etags }, rest };
  }

  /** Discards the parts of an unfinished file. A finished file stays. */
  async abort(): Promise<void> {
    await this.sending.catch(ignore);
    const { upload } = this;
    if (upload && !this.isFinished) await this.semaphore.run(() => upload.abort());
  }

  private makeRoom(bytes: number): void {
    if (bytes <= this.part.length) return;
    // A file with one full part usually fills the next one too, so that one is allocated at once.
    const neededBytes = this.upload ? PART_BYTES : Math.max(bytes, this.part.length * 4);
    const larger = new Uint8Array(Math.min(PART_BYTES, neededBytes));
    this.gauge(this.sendingBytes + this.part.length + larger.length);
    larger.set(this.part.subarray(0, this.partBytes));
    this.part = larger;
    this.gauge(this.sendingBytes + this.part.length);
  }

  private async sendPart(): Promise<void> {
    this.upload ??= await this.semaphore.run(() => this.bucket.createMultipartUpload(this.key));
    const { upload, parts } = this;
    const bytes = this.part.subarray(0, this.partBytes);
    await this.sending;
    const number = parts.length + 1;
    this.sendingBytes = this.part.length;
    this.sending = this.semaphore.run(async () => {
      parts[number - 1] = await upload.uploadPart(number, bytes);
      this.sendingBytes = 0;
      this.gauge(this.part.length);
    });
    // The promise is awaited before the next part; this avoids an unhandled rejection until then.
    this.sending.catch(ignore);
    this.part = new Uint8Array(0);
    this.partBytes = 0;
  }
}

const ignore = (): void => {};
