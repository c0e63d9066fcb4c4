import { copyFile, mkdtemp, open, readdir, rename, rm, writeFile } from "node:fs/promises";
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
  private readonly directory: string;
  private uploads = 0;

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

  async createMultipartUpload(key: string) {
    this.onCall("createMultipartUpload");
    const path = join(this.directory, `upload-${this.uploads++}`);
    const file = await open(path, "w");
    const sizes: number[] = [];
    return {
      uploadPart: async (partNumber: number, bytes: Uint8Array) => {
        this.onCall("uploadPart");
        const [first = bytes.length] = sizes;
        await file.write(bytes, 0, bytes.length, (partNumber - 1) * first);
        sizes[partNumber - 1] = bytes.length;
        return { partNumber, etag: `${partNumber}` };
      },
      complete: async (parts: { partNumber: number }[]) => {
        this.onCall("complete");
        const isWhole = parts.every(({ partNumber }, at) => partNumber === at + 1);
        const full = sizes.slice(0, -1);
        if (!isWhole || parts.length !== sizes.length)
          throw new Error("complete: a part is missing");
        if (full.some((size) => size !== sizes[0] || size < PART_BYTES_MIN)) {
          throw new Error("complete: parts of other lengths than the first");
        }
        await file.close();
        await rename(path, this.pathOf(key));
      },
      abort: async () => {
        this.onCall("abort");
        await file.close();
        await rm(path);
      },
    };
  }

  private pathOf(key: string): string {
    return join(this.directory, `${KEY_MARK}${encodeURIComponent(key)}`);
  }
}

/** Prefix of the names of stored files; upload parts have other names. */
const KEY_MARK = "file-";
