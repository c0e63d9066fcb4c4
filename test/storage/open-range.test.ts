import { env } from "cloudflare:workers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { Bucket } from "../../src/storage/bucket.ts";
import { StorageUsage } from "../../src/storage/storage-usage.ts";
import { freshName } from "../support/make.ts";

const MB = 1024 * 1024;
const SIZE_BYTES = 70 * MB + 1;
/** What may be read ahead of a client: two ranges. */
const AHEAD_BYTES = 32 * MB;
const key = freshName("large");

/** The byte at a position of the file. */
const byteAt = (position: number): number => (position >>> 20) & 255;

/** A bucket that counts what is asked of it. */
function openBucket() {
  const asked = { bytes: 0, calls: 0, failsAt: Number.POSITIVE_INFINITY };
  const r2 = {
    get: async (name: string, options: R2GetOptions) => {
      if (++asked.calls >= asked.failsAt) throw new Error("the bucket is away");
      asked.bytes += (options.range as { length: number }).length;
      return env.PACKS.get(name, options);
    },
  } as unknown as R2Bucket;
  const cache = { get: async () => undefined, open: async () => undefined, put: () => {} };
  return { asked, bucket: new Bucket(r2, new StorageUsage(), cache) };
}

/** Waits until as much is asked as will be. */
async function settle(asked: { bytes: number }): Promise<void> {
  for (let before = -1; before !== asked.bytes;) {
    before = asked.bytes;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

describe("a range of a large file", () => {
  beforeAll(async () => {
    const bytes = new Uint8Array(SIZE_BYTES);
    for (let at = 0; at < SIZE_BYTES; at += MB) bytes.fill(byteAt(at), at, at + MB);
    await env.PACKS.put(key, bytes);
  });
  afterAll(() => env.PACKS.delete(key));

  it.each([
    [0, SIZE_BYTES],
    [5, 16 * MB + 5],
    [17 * MB + 3, 60 * MB + 9],
    [SIZE_BYTES - 1, SIZE_BYTES],
    [4, 4],
  ])("is sent exactly: %i to %i", async (start, end) => {
    const { bucket } = openBucket();
    let at = start;
    let wrong = 0;
    for await (const piece of await bucket.openRange(key, { start, end })) {
      // The first and the last byte of each piece show a gap as well as all would, a thousand times
      // faster.
      if (piece[0] !== byteAt(at) || piece.at(-1) !== byteAt(at + piece.length - 1)) wrong++;
      at += piece.length;
    }
    expect([at, wrong]).toEqual([end, 0]);
  });

  // A layer of some GB that a slow client reads is not in memory.
  it("is read ahead of the client by two reads at most", async () => {
    const { asked, bucket } = openBucket();
    const stream = await bucket.openRange(key, { start: 0, end: SIZE_BYTES });
    const reader = stream.getReader();
    let readBytes = 0;
    for (const until of [1, 20 * MB, 40 * MB]) {
      while (readBytes < until) readBytes += (await reader.read()).value?.length ?? Number.NaN;
      await settle(asked);
      expect(asked.bytes - readBytes).toBeLessThanOrEqual(AHEAD_BYTES);
    }
    await reader.cancel();
  });

  it("is not read on when the client leaves", async () => {
    const { asked, bucket } = openBucket();
    const stream = await bucket.openRange(key, { start: 0, end: SIZE_BYTES });
    const reader = stream.getReader();
    await reader.read();
    await reader.cancel();
    await settle(asked);
    expect(asked.bytes).toBeLessThanOrEqual(AHEAD_BYTES);
  });

  it("breaks off when a later read fails, and does not end as if it were whole", async () => {
    const { asked, bucket } = openBucket();
    asked.failsAt = 3;
    const stream = await bucket.openRange(key, { start: 0, end: SIZE_BYTES });
    await expect(new Response(stream).arrayBuffer()).rejects.toThrow("the bucket is away");
  });
});

describe("a small range", () => {
  it("is read once, and then sent from the cached blocks", async () => {
    const { asked, bucket } = openBucket();
    const small = freshName("small");
    await env.PACKS.put(
      small,
      Uint8Array.from({ length: 100_000 }, (_, at) => at % 251),
    );
    for (const [start, end] of [
      [0, 100_000],
      [0, 100_000],
      [70_000, 100_000],
      [9, 9],
    ] as const) {
      const sent = await bucket.openCached(small, 100_000, { start, end });
      expect(sent).toBeInstanceOf(Uint8Array);
      expect(sent).toEqual(Uint8Array.from({ length: end - start }, (_, at) => (start + at) % 251));
    }
    expect(asked.calls).toBe(1);
    await env.PACKS.delete(small);
  });
});
