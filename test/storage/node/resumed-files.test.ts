import { createHash } from "node:crypto";

import { expect, it } from "vitest";

import { Bucket } from "../../../src/storage/bucket.ts";
import { HashedFiles, type PartialFile } from "../../../src/storage/hashed-files.ts";
import { StorageUsage } from "../../../src/storage/storage-usage.ts";
import { DiskBucket } from "../../support/disk-bucket.ts";
import { MemoryWatch } from "../../support/memory-watch.ts";

const MB = 1024 * 1024;

async function openFiles() {
  const disk = await DiskBucket.make();
  const usage = new StorageUsage();
  const cache = { get: () => Promise.resolve(undefined), put: () => undefined };
  const bucket = new Bucket(disk.r2, usage, cache);
  return { disk, usage, files: new HashedFiles(bucket, (uuid) => uuid, ["md5", "sha256"]) };
}

/** Pieces of a body, hashed as they are read. */
async function* piecesOf(sizeBytes: number, seen: { update(piece: Uint8Array): unknown }) {
  for (let at = 0; at < sizeBytes; at += MB) {
    const piece = new Uint8Array(Math.min(MB, sizeBytes - at)).fill(at / MB);
    seen.update(piece);
    yield piece;
  }
}

const SIZES = process.env["EDGEFORGE_TEST_ALL"]
  ? [1024 * MB, 1024 * MB + 5]
  : [60 * MB, 60 * MB + 5];

it(
  "receives and hashes a file over several requests in bounded memory",
  { timeout: 300_000 },
  async () => {
    const { disk, usage, files } = await openFiles();
    const watch = await MemoryWatch.make();
    disk.onCall = () => watch.glance();
    const hash = createHash("sha256");
    let partial: PartialFile = {};
    for (const [at, size] of SIZES.entries()) {
      // As it is kept between requests.
      const kept = JSON.parse(JSON.stringify(partial)) as PartialFile;
      partial = await files.append("whole", kept, `rest-${at}`, piecesOf(size, hash));
    }
    expect(partial.rest?.sizeBytes).toBeLessThan(8 * MB);
    const sizeBytes = SIZES.reduce((sum, size) => sum + size, 0);
    const stored = await files.complete("whole", partial, sizeBytes);
    watch.look();
    expect(stored).toMatchObject({ uuid: "whole", sizeBytes, sha256: hash.digest("hex") });
    expect(watch.peakBytes).toBeLessThan(40 * MB);
    // What is counted for a request is about what it holds.
    const counted = usage.counts().bufferedBytesPeak;
    expect(counted).toBeGreaterThan(watch.peakBytes / 2);
    expect(counted).toBeLessThan(40 * MB);
    // Again, as after a response that was lost.
    expect(await files.complete("whole", partial, sizeBytes)).toEqual(stored);
    await disk.remove();
  },
);

it("finds that another request has discarded the parts", async () => {
  const { disk, files } = await openFiles();
  const ignored = { update: () => undefined };
  const partial = await files.append("whole", {}, "rest", piecesOf(9 * MB, ignored));
  await files.discard("whole", partial);
  await files.discard("whole", partial);
  expect(await files.complete("whole", partial, 9 * MB)).toBeUndefined();
  await disk.remove();
});
