import {
  copyFile,
  link,
  mkdtemp,
  open,
  readdir,
  rename,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Upper bound of the keys that one call lists or deletes. */
const KEYS_MAX = 1000;
/** Lower bound of the size of an upload part; the last part may be smaller. */
const PART_BYTES_MIN = 5 * 1024 * 1024;

/**
 * The subset of R2 that the storage uses, with files in a directory: for Node, which has no R2.
 *
 * Written content stays on disk, so that the memory of the code under test can be measured.
 */
export class DiskBucket {
  /** Called with the method name as each call begins. */
  onCall: (name: string) => void = () => {};
  /** Bytes that were read of all files. */
  readBytes = 0;
  private readonly directory: string;
  private uploads = 0;
  /** The sizes of the parts of each unfinished upload. */
  private readonly partSizes = new Map<string, number[]>();

  private constructor(directory: string) {
    this.directory = directory;
  }

  static async make(): Promise<DiskBucket> {
    return new DiskBucket(await mkdtemp(join(tmpdir(), "edgeforge-bucket-")));
  }

  /** The same bucket typed as the platform's. */
  get r2(): R2Bucket {
    return this as unknown as R2Bucket;
  }

  /** Removes the directory. */
  async remove(): Promise<void> {
    await rm(this.directory, { recursive: true, force: true });
  }

  /** Copies a file. */
  async copy(from: string, to: string): Promise<void> {
    await copyFile(this.pathOf(from), this.pathOf(to));
  }

  /** Gives a file a second name. */
  async link(from: string, to: string): Promise<void> {
    await link(this.pathOf(from), this.pathOf(to));
  }

  async get(key: string, options: { range?: { offset: number; length: number } } = {}) {
    this.onCall("get");
    const file = await open(this.pathOf(key)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw error;
    });
    if (!file) return null;
    const { size } = await file.stat();
    const { offset, length } = options.range ?? { offset: 0, length: size };
    if (options.range && offset >= size) {
      await file.close();
      throw new Error("get: The requested range is not satisfiable (10039)");
    }
    const end = Math.min(size, offset + length);
    let at = offset;
    const readAtLeast = async (_minBytes: number, view: Uint8Array) => {
      const { bytesRead } = await file.read(view, 0, Math.min(view.length, end - at), at);
      at += bytesRead;
      this.readBytes += bytesRead;
      return { value: view.subarray(0, bytesRead), done: at === end };
    };
    const cancel = (): Promise<void> => file.close();
    return {
      size,
      arrayBuffer: async () => {
        const bytes = new Uint8Array(end - offset);
        for (let done = offset === end; !done;) {
          ({ done } = await readAtLeast(0, bytes.subarray(at - offset)));
        }
        await file.close();
        return bytes.buffer;
      },
      body: { getReader: () => ({ readAtLeast, cancel, releaseLock: () => undefined }) },
    };
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    this.onCall("put");
    await writeFile(this.pathOf(key), bytes);
  }

  async delete(keys: string[]): Promise<void> {
    this.onCall("delete");
    if (keys.length > KEYS_MAX) throw new Error("delete: too many keys");
    for (const key of keys) await rm(this.pathOf(key), { force: true });
  }

  async list({ prefix = "", cursor = "" }: { prefix?: string; cursor?: string } = {}) {
    this.onCall("list");
    const names = await readdir(this.directory);
    const keys = names
      .filter((name) => name.startsWith(KEY_MARK))
      .map((name) => decodeURIComponent(name.slice(KEY_MARK.length)))
      .filter((key) => key.startsWith(prefix) && key > cursor)
      .toSorted();
    const listed = keys.slice(0, KEYS_MAX);
    const truncated = listed.length < keys.length;
    const objects = listed.map((key) => ({ key }));
    return { objects, truncated, ...(truncated && { cursor: listed.at(-1) }) };
  }

  async head(key: string) {
    this.onCall("head");
    const found = await stat(this.pathOf(key)).catch(() => undefined);
    return found ? { size: found.size } : null;
  }

  async createMultipartUpload(key: string) {
    this.onCall("createMultipartUpload");
    const uploadId = String(this.uploads++);
    await writeFile(this.partsPathOf(uploadId), "");
    this.partSizes.set(uploadId, []);
    return this.resumeMultipartUpload(key, uploadId);
  }

  resumeMultipartUpload(key: string, uploadId: string) {
    const path = this.partsPathOf(uploadId);
    const findSizes = (): number[] => {
      const sizes = this.partSizes.get(uploadId);
      if (!sizes) throw new Error("The specified multipart upload does not exist. (10024)");
      return sizes;
    };
    return {
      uploadId,
      uploadPart: async (partNumber: number, bytes: Uint8Array) => {
        this.onCall("uploadPart");
        const sizes = findSizes();
        const [first = bytes.length] = sizes;
        const file = await open(path, "r+");
        await file.write(bytes, 0, bytes.length, (partNumber - 1) * first);
        await file.close();
        sizes[partNumber - 1] = bytes.length;
        return { partNumber, etag: `${partNumber}` };
      },
      complete: async (parts: { partNumber: number }[]) => {
        this.onCall("complete");
        const sizes = findSizes();
        const isWhole = parts.every(({ partNumber }, at) => partNumber === at + 1);
        const full = sizes.slice(0, -1);
        if (!isWhole || parts.length !== sizes.length)
          throw new Error("complete: a part is missing");
        if (full.some((size) => size !== sizes[0] || size < PART_BYTES_MIN)) {
          throw new Error("complete: parts of other lengths than the first");
        }
        this.partSizes.delete(uploadId);
        await rename(path, this.pathOf(key));
      },
      abort: async () => {
        this.onCall("abort");
        findSizes();
        this.partSizes.delete(uploadId);
        await rm(path);
      },
    };
  }

  private partsPathOf(uploadId: string): string {
    return join(this.directory, `upload-${uploadId}`);
  }

  private pathOf(key: string): string {
    return join(this.directory, `${KEY_MARK}${encodeURIComponent(key)}`);
  }
}

/** Prefix of the names of stored files; upload parts have other names. */
const KEY_MARK = "file-";
