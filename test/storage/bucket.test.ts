import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";

import { Bucket } from "../../src/storage/bucket.ts";
import { freshName } from "../support/make.ts";

/** Bytes that say where they stand. */
const pattern = (length: number): Uint8Array =>
  Uint8Array.from({ length }, (_, at) => (at * 31 + (at >>> 8)) & 255);

const open = () => {
  const usage = { r2Calls: 0 };
  return { usage, bucket: new Bucket(env.PACKS, usage), key: freshName("file") };
};

describe("the bucket", () => {
  it("reads any range exactly, small ones from blocks that it remembers", async () => {
    const { bucket, usage, key } = open();
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
      expect(await source.read(start, end)).toEqual(bytes.slice(start, end));
    }
    const before = usage.r2Calls;
    expect(await source.read(70_000, 130_000)).toEqual(bytes.slice(70_000, 130_000));
    expect(usage.r2Calls).toBe(before);
    await expect(source.read(699_000, 700_002)).rejects.toThrow("beyond the end");
  });

  it("writes a small file at once and a large one in parts, and nothing before it is finished", async () => {
    for (const length of [0, 5, 8 * 1024 * 1024, 20 * 1024 * 1024 + 7]) {
      const { bucket, key } = open();
      const bytes = pattern(length);
      const upload = bucket.startUpload(key);
      for (let at = 0; at < length; at += 3_000_000) {
        await upload.write(bytes.subarray(at, at + 3_000_000));
      }
      expect(await env.PACKS.head(key)).toBeNull();
      await upload.finish();
      const stored = await env.PACKS.get(key);
      expect(upload.sizeBytes).toBe(length);
      expect(
        new Uint8Array((await stored?.arrayBuffer()) ?? []).every((byte, at) => byte === bytes[at]),
      ).toBe(true);
      expect(stored?.size).toBe(length);
    }
  });

  it("streams a file from start to end", async () => {
    const { bucket, key } = open();
    const bytes = pattern(300_001);
    await bucket.put(key, bytes);
    const lengths: number[] = [];
    for await (const piece of bucket.stream(key, 100_000)) lengths.push(piece.length);
    expect(lengths).toEqual([100_000, 100_000, 100_000, 1]);
  });

  it("removes what lies below a prefix, and an upload that is given up", async () => {
    const { bucket, key } = open();
    await bucket.put(`${key}/a`, pattern(3));
    await bucket.put(`${key}/b/c`, pattern(3));
    const upload = bucket.startUpload(`${key}/large`);
    await upload.write(pattern(9 * 1024 * 1024));
    await upload.abort();
    await bucket.deleteAll(`${key}/`);
    expect((await env.PACKS.list({ prefix: `${key}/` })).objects).toEqual([]);
  });
});
