import type { ByteSource, Gauge } from "../git/store.ts";
import { readPieces } from "../lib/read-pieces.ts";
import { LruCache } from "./lru-cache.ts";
import { Semaphore } from "./semaphore.ts";
import type { StorageUsage } from "./storage-usage.ts";

/** The platform opens six connections for a request; one stays for everything else. */
const READS_MAX = 5;

/** A part of a multipart upload, in bytes. All parts but the last are as long. */
const PART_BYTES = 8 * 1024 * 1024;

/** Blocks that small reads are made of, in bytes. */
const BLOCK_BYTES = 64 * 1024;
/** Longer reads are passes over a file: they neither use blocks nor push them out. */
const BLOCK_READ_BYTES_MAX = 256 * 1024;
/**
 * Blocks that one request may find missing near by. Whoever reads more passes over a file as well, and
 * asking for each near by and keeping it there would only slow that down.
 */
const NEAR_MISSES_MAX = 32;
/** What the isolate keeps of blocks, in bytes. Files never change, so a block is never stale. */
const blocks = new LruCache<Uint8Array>(16 * 1024 * 1024);

/** Copies of small files that never change, near by. It may forget any of them. */
export interface FileCache {
  /** The bytes under `key`; where a length is given, only if there are exactly as many. */
  get(key: string, length?: number): Promise<Uint8Array | undefined>;
  put(key: string, bytes: Uint8Array): void;
}

/** What a block of a file is called near by. */
const blockKey = (key: string, block: number): string => `${key}/${block}`;

/** The bucket of packs as one request uses it, with few connections at once. */
export class Bucket {
  private readonly bucket: R2Bucket;
  private readonly cache: FileCache;
  private readonly usage: StorageUsage;
  private readonly semaphore: Semaphore;
  /** Blocks that were kept before, which others hold. */
  private readonly blockBytesBefore = blocks.heldBytes;
  private readonly gaugeBlocks: Gauge;
  private nearMisses = 0;

  constructor(bucket: R2Bucket, usage: StorageUsage, cache: FileCache) {
    this.bucket = bucket;
    this.cache = cache;
    this.usage = usage;
    this.gaugeBlocks = usage.gauge();
    this.semaphore = new Semaphore(READS_MAX, () => usage.beginR2());
  }

  /** For what is held in memory between the bucket and whoever asks. */
  openGauge(): Gauge {
    return this.usage.gauge();
  }

  /** A file of known length, to be read by ranges. */
  source(key: string, sizeBytes: number): ByteSource {
    return {
      sizeBytes,
      read: async (start, end) => {
        if (start < 0 || end > sizeBytes) throw new Error("a read beyond the end of a file");
        return end - start > BLOCK_READ_BYTES_MAX
          ? this.read(key, start, end)
          : this.readBlocks(key, sizeBytes, start, end);
      },
    };
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
        // From here on whoever asked for them counts them.
        this.usage.hold(start - end);
      }
    });
  }

  /** A small file of known length, from near by if it was read there before. */
  async readFile(key: string, sizeBytes: number): Promise<Uint8Array> {
    const cached = await this.cache.get(key, sizeBytes);
    if (cached) return cached;
    const bytes = await this.read(key, 0, sizeBytes);
    this.cache.put(key, bytes);
    return bytes;
  }

  private async readBlocks(
    key: string,
    sizeBytes: number,
    start: number,
    end: number,
  ): Promise<Uint8Array> {
    const first = Math.floor(start / BLOCK_BYTES);
    const last = Math.ceil(end / BLOCK_BYTES);
    const found: (Uint8Array | undefined)[] = [];
    for (let block = first; block < last; block++) found.push(blocks.get(`${key}#${block}`));
    const missing = found.indexOf(undefined);
    if (missing >= 0) {
      // From the first to the last that is missing, whatever is known between them.
      const until = found.lastIndexOf(undefined) + 1;
      const fetched = await this.fetchBlocks(key, sizeBytes, first + missing, first + until);
      for (const [at, block] of fetched.entries()) {
        found[missing + at] = block;
        blocks.set(`${key}#${first + missing + at}`, block, block.length);
      }
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

  /** Blocks `first` to `last` of a file: from near by if all of them are there, else by one read. */
  private async fetchBlocks(
    key: string,
    sizeBytes: number,
    first: number,
    last: number,
  ): Promise<Uint8Array[]> {
    const numbers = Array.from({ length: last - first }, (_, at) => first + at);
    const end = (block: number): number => Math.min(sizeBytes, (block + 1) * BLOCK_BYTES);
    const isNearAsked = this.nearMisses < NEAR_MISSES_MAX;
    if (isNearAsked) {
      const asked = numbers.map((block) =>
        this.cache.get(blockKey(key, block), end(block) - block * BLOCK_BYTES),
      );
      const near = (await Promise.all(asked)).filter((block) => block !== undefined);
      if (near.length === numbers.length) return near;
      this.nearMisses += numbers.length - near.length;
    }
    const from = first * BLOCK_BYTES;
    const bytes = await this.read(key, from, end(last - 1));
    return numbers.map((block) => {
      const content = bytes.slice(block * BLOCK_BYTES - from, end(block) - from);
      if (isNearAsked) this.cache.put(blockKey(key, block), content);
      return content;
    });
  }

  /** The file from its start to its end, in pieces of `pieceBytes`; one connection all the while. */
  async *stream(key: string, pieceBytes: number): AsyncGenerator<Uint8Array> {
    const object = await this.semaphore.run(() => this.bucket.get(key));
    if (!object) throw new Error("a file of a pack is gone");
    // The piece that is read, and the one that is being sent.
    this.usage.hold(2 * pieceBytes);
    try {
      yield* readPieces(object.body, pieceBytes);
    } finally {
      this.usage.hold(-2 * pieceBytes);
    }
  }

  /** The file, or a part of it, as it comes from the bucket: nothing of it is held. */
  async open(key: string, range?: { start: number; end: number }): Promise<ReadableStream> {
    const options = range && { range: { offset: range.start, length: range.end - range.start } };
    const object = await this.semaphore.run(() => this.bucket.get(key, options));
    if (!object) throw new Error("a large file is gone");
    return object.body;
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    await this.semaphore.run(() => this.bucket.put(key, bytes));
  }

  /**
   * Writes a file as it comes and holds nothing of it. If it fails, the file may be there.
   *
   * @param bytes  A stream of known length.
   * @param sha256 In hex; other bytes are refused by the bucket.
   */
  putStream(key: string, bytes: ReadableStream, sha256: string): Promise<R2Object> {
    return this.semaphore.run(() => this.bucket.put(key, bytes, { sha256 }));
  }

  /**
   * Writes a file of parts that stream, one after the other, all but the last as long as each other.
   * Nothing is there before the end, nor if it fails.
   *
   * @param isRight Asked when all are written: whether the file is to be there.
   */
  async putParts(
    key: string,
    parts: AsyncIterable<ReadableStream>,
    isRight: () => Promise<boolean>,
  ): Promise<boolean> {
    const upload = await this.semaphore.run(() => this.bucket.createMultipartUpload(key));
    let isThere = false;
    try {
      const sent: R2UploadedPart[] = [];
      for await (const part of parts) {
        const number = sent.length + 1;
        sent.push(await this.semaphore.run(() => upload.uploadPart(number, part)));
      }
      if (!(await isRight())) return false;
      await this.semaphore.run(() => upload.complete(sent));
      isThere = true;
      return true;
    } finally {
      if (!isThere) await this.semaphore.run(() => upload.abort());
    }
  }

  /** Begins a file whose length nobody knows yet. */
  startUpload(key: string): Upload {
    return new Upload(this.bucket, this.semaphore, key, this.usage.gauge());
  }

  /** Removes files; those that are not there are passed over. */
  async delete(keys: readonly string[]): Promise<void> {
    if (keys.length > 0) await this.semaphore.run(() => this.bucket.delete([...keys]));
  }

  /** Removes all files below a prefix. */
  async deleteAll(prefix: string): Promise<void> {
    for (;;) {
      const { objects, truncated } = await this.semaphore.run(() => this.bucket.list({ prefix }));
      await this.delete(objects.map(({ key }) => key));
      if (!truncated) return;
    }
  }
}

/**
 * A file that is written as it comes: by one put if it fits one part, in parts otherwise.
 *
 * Holds two parts at most, one that fills and one on its way. Nothing is there before `finish`.
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
  /** Bytes on their way. */
  private sendingBytes = 0;
  private readonly gauge: Gauge;

  constructor(bucket: R2Bucket, semaphore: Semaphore, key: string, gauge: Gauge) {
    this.bucket = bucket;
    this.semaphore = semaphore;
    this.key = key;
    this.gauge = gauge;
  }

  /** Takes bytes, which are copied. */
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

  /** All that was written, while it is still in memory: undefined once a part was sent. */
  whole(): Uint8Array | undefined {
    return this.upload ? undefined : this.part.subarray(0, this.partBytes);
  }

  /** The file is there when this resolves. */
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

  /** Leaves no part behind of a file that is not to be finished; one that is finished stays. */
  async abort(): Promise<void> {
    await this.sending.catch(ignore);
    const { upload } = this;
    if (upload && !this.isFinished) await this.semaphore.run(() => upload.abort());
  }

  private makeRoom(bytes: number): void {
    if (bytes <= this.part.length) return;
    // A file that has a part already has more of them: the next is filled, too.
    const wanted = this.upload ? PART_BYTES : Math.max(bytes, this.part.length * 4);
    const larger = new Uint8Array(Math.min(PART_BYTES, wanted));
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
    // Awaited before the next part; until then nobody else looks whether it failed.
    this.sending.catch(ignore);
    this.part = new Uint8Array(0);
    this.partBytes = 0;
  }
}

const ignore = (): void => {};
