import { streamed } from "../support/streamed.ts";
import { Buffer } from "node:buffer";

import { expect } from "vitest";

import { Bucket } from "../../src/storage/bucket.ts";
import { StorageUsage } from "../../src/storage/storage-usage.ts";

const MB = 1024 * 1024;

const PERIOD = Uint8Array.from({ length: 65_521 }, (_, at) => (at * 31 + (at >>> 8)) & 255);

/** Bytes that differ by position. */
function pattern(length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at += PERIOD.length) {
    bytes.set(PERIOD.subarray(0, length - at), at);
  }
  return bytes;
}

/** Compares without a diff, which is slow and useless for megabytes. */
const isSame = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;

/** A bucket to test, and unique keys. */
export interface Trial {
  readonly r2: R2Bucket;
  readonly freshKey: () => string;
}

function open({ r2, freshKey }: Trial) {
  const usage = new StorageUsage();
  const cached = new Map<string, Uint8Array>();
  const cache = {
    get: (key: string) => Promise.resolve(cached.get(key)),
    open: (key: string) => Promise.resolve(streamed(cached.get(key))),
    put: (key: string, bytes: Uint8Array) => void cached.set(key, bytes),
  };
  return { usage, cached, bucket: new Bucket(r2, usage, cache), key: freshKey() };
}

/** Keys of all files below a prefix. */
async function listKeys(r2: R2Bucket, prefix: string): Promise<string[]> {
  const keys: string[] = [];
  for (let cursor: string | undefined, isMore = true; isMore;) {
    const page: R2Objects = await r2.list({ prefix, ...(cursor !== undefined && { cursor }) });
    keys.push(...page.objects.map(({ key }) => key));
    isMore = page.truncated;
    cursor = page.truncated ? page.cursor : undefined;
  }
  return keys;
}

/** The requirements on a bucket, run against each implementation. */
export const bucketCases: readonly (readonly [
  name: string,
  run: (trial: Trial) => Promise<void>,
])[] = [
  [
    "reads any range exactly, small ones from cached blocks",
    async (trial) => {
      const { bucket, usage, key } = open(trial);
      const bytes = pattern(700_001);
      await bucket.put(key, bytes);
      const source = bucket.source(key, bytes.length);
      const ranges = [
        [0, 1],
        [65_535, 65_537],
        [1, 200_000],
        [699_990, 700_001],
        [10, 10],
        [5, 600_000],
        [0, 700_001],
      ] as const;
      for (const [start, end] of ranges) {
        expect(isSame(await source.read(start, end), bytes.subarray(start, end))).toBe(true);
      }
      const before = usage.r2Calls;
      expect(await source.read(70_000, 130_000)).toEqual(bytes.slice(70_000, 130_000));
      expect(usage.r2Calls).toBe(before);
      await expect(source.read(699_000, 700_002)).rejects.toThrow("beyond the end");
    },
  ],
  [
    "fills gaps around a cached block by one read",
    async (trial) => {
      const { bucket, usage, key } = open(trial);
      const bytes = pattern(200_000);
      await bucket.put(key, bytes);
      const source = bucket.source(key, bytes.length);
      await source.read(70_000, 70_001);
      usage.r2Calls = 0;
      expect(isSame(await source.read(0, 200_000), bytes)).toBe(true);
      expect(usage.r2Calls).toBe(1);
    },
  ],
  [
    "refuses to read a file that is missing or shorter than expected",
    async (trial) => {
      const { bucket, key } = open(trial);
      await expect(bucket.read(key, 0, 10)).rejects.toThrow("is gone");
      await expect(bucket.stream(key, 10).next()).rejects.toThrow("is gone");
      await bucket.put(key, pattern(5));
      await expect(bucket.read(key, 0, 10)).rejects.toThrow("cut off");
    },
  ],
  [
    "reads a small file once, and later from the file cache",
    async (trial) => {
      const { bucket, usage, cached, key } = open(trial);
      const bytes = pattern(1000);
      await bucket.put(key, bytes);
      for (const calls of [2, 2]) {
        expect(await bucket.readFile(key, 1000)).toEqual(bytes);
        expect(usage.r2Calls).toBe(calls);
      }
      expect(cached.get(key)).toEqual(bytes);
    },
  ],
  [
    "finds blocks in the file cache that another isolate has read, and stops using the cache after many misses",
    async (trial) => {
      const block = 64 * 1024;
      const bytes = pattern(40 * block + 5);
      // The file cache contains two blocks; the isolate's own cache contains none of this file.
      const { bucket, usage, cached, key } = open(trial);
      await bucket.put(key, bytes);
      for (const at of [0, 40])
        cached.set(`${key}/${at}`, bytes.slice(at * block, (at + 1) * block));
      const source = bucket.source(key, bytes.length);
      expect(await source.read(10, 20)).toEqual(bytes.slice(10, 20));
      expect(await source.read(40 * block + 1, bytes.length)).toEqual(bytes.slice(40 * block + 1));
      expect(usage.r2Calls).toBe(1);
      // From the end, since reads that follow each other go further.
      for (let at = 39; at > 0; at--) {
        const start = at * block + 7;
        expect(await source.read(start, start + 9)).toEqual(bytes.slice(start, start + 9));
      }
      expect(usage.r2Calls).toBe(40);
      expect(cached.get(`${key}/39`)).toEqual(bytes.slice(39 * block, 40 * block));
      expect(cached.size).toBe(2 + 32);
    },
  ],
  [
    "reads further ahead as reads follow each other, up to 1 MB at once",
    async (trial) => {
      const block = 64 * 1024;
      const bytes = pattern(60 * block + 5);
      const { bucket, usage, key } = open(trial);
      await bucket.put(key, bytes);
      usage.r2Calls = 0;
      const source = bucket.source(key, bytes.length);
      const calls: number[] = [];
      for (let at = 0; at <= 60; at++) {
        const start = at * block + 1;
        const read = await source.read(start, start + 3);
        expect(read).toEqual(bytes.slice(start, start + 3));
        if (usage.r2Calls > calls.length) calls.push(at);
      }
      expect(calls).toEqual([0, 1, 3, 7, 15, 31, 47]);
    },
  ],
  [
    "writes a small file by one put and a large one in parts, and stores nothing before it is finished",
    async (trial) => {
      // Lengths for one put, for full parts only, and for full parts with a remainder.
      const calls = new Map([
        [0, 1],
        [5, 1],
        [8 * MB, 1],
        [16 * MB, 4],
        [16 * MB + 7, 5],
      ]);
      for (const [length, r2Calls] of calls) {
        const { bucket, usage, key } = open(trial);
        const bytes = pattern(length);
        const upload = bucket.startUpload(key);
        for (let at = 0; at < length; at += 3_000_000) {
          await upload.write(bytes.subarray(at, at + 3_000_000));
        }
        expect(await listKeys(trial.r2, key)).toEqual([]);
        expect(upload.bufferedBytes() !== undefined).toBe(r2Calls === 1);
        await upload.finish();
        await upload.finish();
        await upload.abort();
        expect(usage.r2Calls).toBe(r2Calls);
        expect(upload.sizeBytes).toBe(length);
        expect(isSame(await bucket.read(key, 0, length), bytes)).toBe(true);
      }
    },
  ],
  [
    "streams a file from start to end, and stops when the reader does",
    async (trial) => {
      const { bucket, usage, key } = open(trial);
      await bucket.put(key, pattern(300_001));
      const lengths: number[] = [];
      usage.r2Calls = 0;
      for await (const piece of bucket.stream(key, 100_000)) lengths.push(piece.length);
      expect(lengths).toEqual([100_000, 100_000, 100_000, 1]);
      expect(usage.r2Calls).toBe(1);
      for await (const piece of bucket.stream(key, 100_000)) {
        expect(isSame(piece, pattern(100_000))).toBe(true);
        break;
      }
    },
  ],
  [
    "deletes files and ignores missing ones",
    async (trial) => {
      const { bucket, usage, key } = open(trial);
      await bucket.put(`${key}/a`, pattern(3));
      await bucket.put(`${key}/b`, pattern(3));
      await bucket.delete([`${key}/a`, `${key}/none`]);
      expect(await listKeys(trial.r2, `${key}/`)).toEqual([`${key}/b`]);
      usage.r2Calls = 0;
      await bucket.delete([]);
      expect(usage.r2Calls).toBe(0);
    },
  ],
  [
    "deletes the files of a prefix and no others, and leaves nothing of an aborted upload",
    async (trial) => {
      const { bucket, key } = open(trial);
      await bucket.put(`${key}/a`, pattern(3));
      await bucket.put(`${key}/b/c`, pattern(3));
      await bucket.put(`${key}-other`, pattern(3));
      const upload = bucket.startUpload(`${key}/large`);
      await upload.write(pattern(9 * MB));
      await upload.abort();
      await bucket.deleteAll(`${key}/`);
      expect(await listKeys(trial.r2, key)).toEqual([`${key}-other`]);
    },
  ],
  [
    "deletes more files of a prefix than one call lists",
    async (trial) => {
      const { bucket, key } = open(trial);
      const names = Array.from({ length: 1003 }, (_, at) => `${key}/${at}`);
      await Promise.all(names.map((name) => bucket.put(name, pattern(1))));
      expect(await listKeys(trial.r2, `${key}/`)).toHaveLength(names.length);
      await bucket.deleteAll(`${key}/`);
      expect(await listKeys(trial.r2, `${key}/`)).toEqual([]);
    },
  ],
];
