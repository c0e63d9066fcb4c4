import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";

import { describe, expect, it } from "vitest";

import { Bucket } from "../../../src/storage/bucket.ts";
import type { HashModules } from "../../../src/storage/hash-modules.ts";
import { HashedFiles, type PartialFile } from "../../../src/storage/hashed-files.ts";
import { HASH_BUILD } from "../../../src/storage/resumable-hash.ts";
import { StorageUsage } from "../../../src/storage/storage-usage.ts";
import { DiskBucket } from "../../support/disk-bucket.ts";
import { MemoryWatch } from "../../support/memory-watch.ts";

const MB = 1024 * 1024;

const DIGESTS = ["md5", "sha1", "sha256", "sha512"] as const;

/** The modules that the Worker imports, which plain Node can't. */
async function loadModules(): Promise<HashModules> {
  const modules = DIGESTS.map(async (name) => [
    name,
    await WebAssembly.compile(await readFile(`dist/hashes/${name}.wasm`)),
  ]);
  return Object.fromEntries(await Promise.all(modules)) as HashModules;
}

async function openFiles() {
  const disk = await DiskBucket.make();
  const usage = new StorageUsage();
  const cache = { get: () => Promise.resolve(undefined), put: () => undefined };
  const bucket = new Bucket(disk.r2, usage, cache);
  const files = new HashedFiles(bucket, (uuid) => uuid, DIGESTS, loadModules);
  return { disk, usage, files };
}

/** Pieces of a body, hashed as they are read. */
async function* piecesOf(sizeBytes: number, seen: { update(piece: Uint8Array): unknown }) {
  for (let at = 0; at < sizeBytes; at += MB) {
    const piece = new Uint8Array(Math.min(MB, sizeBytes - at)).fill(at / MB);
    seen.update(piece);
    yield piece;
  }
}

const SIZES = [60 * MB, 60 * MB + 5];

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
    // Only the rest: a file of some GB is not read back to be hashed.
    expect(disk.readBytes).toBeLessThan(SIZES.length * 8 * MB);
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

describe("the hashes of a file", () => {
  const DATA = Uint8Array.from({ length: 20 * MB + 3 }, (_, at) => (at * 7) & 255);
  const expected = Object.fromEntries(
    DIGESTS.map((name) => [name, createHash(name).update(DATA).digest("hex")]),
  );

  /** Receives the bytes by requests that end at these positions. */
  async function receive(
    ends: readonly number[],
    keep: (partial: PartialFile) => PartialFile,
    isLikelyWhole = false,
  ) {
    const { disk, files } = await openFiles();
    let partial: PartialFile = {};
    let at = 0;
    for (const end of ends) {
      const pieces = async function* () {
        yield DATA.subarray(at, end);
      };
      const kept = keep(JSON.parse(JSON.stringify(partial)) as PartialFile);
      partial = await files.append("whole", kept, `rest-${end}`, pieces(), isLikelyWhole);
      at = end;
    }
    disk.readBytes = 0;
    const stored = await files.complete("whole", keep(partial), at);
    await disk.remove();
    return { stored, readBytes: disk.readBytes };
  }

  it.each([
    [[20 * MB + 3]],
    [[1, 2, 127, 128, 129, 20 * MB + 3]],
    [[8 * MB, 16 * MB, 20 * MB + 3]],
    [[0, 9 * MB + 17, 20 * MB + 3, 20 * MB + 3]],
  ])("are those of all of its bytes, received up to %j", async (ends) => {
    const { stored, readBytes } = await receive(ends, (partial) => partial);
    expect(stored).toMatchObject({ sizeBytes: DATA.length, ...expected });
    expect(readBytes).toBeLessThan(8 * MB);
  });

  // A deployment may come between two requests of an upload.
  it.each([
    ["of an upload that began before they were kept", () => undefined],
    ["of another build", ({ hashes }: PartialFile) => hashes && { ...hashes, build: "other" }],
    ["that are incomplete", ({ hashes }: PartialFile) => hashes && { ...hashes, states: {} }],
  ])("are found by reading it back, where there are states %s", async (_, change) => {
    const keep = (partial: PartialFile) => ({ ...partial, hashes: change(partial) });
    const { stored, readBytes } = await receive([9 * MB, 20 * MB + 3], keep);
    expect(stored).toMatchObject({ sizeBytes: DATA.length, ...expected });
    expect(readBytes).toBeGreaterThanOrEqual(DATA.length);
  });

  it.each([
    ["not read back, where the first request has brought all", [20 * MB + 3], 0],
    ["found by reading it back, where another one followed", [9 * MB, 20 * MB + 3], 20 * MB + 3],
  ])("that are native are %s", async (_, ends, bytes) => {
    const { stored, readBytes } = await receive(ends, (partial) => partial, true);
    expect(stored).toMatchObject({ sizeBytes: DATA.length, ...expected });
    expect(readBytes).toBeGreaterThanOrEqual(bytes);
    expect(readBytes).toBeLessThan(bytes + 8 * MB);
  });

  it("are of the build that is installed", async () => {
    const manifest = await readFile("node_modules/hash-wasm/package.json", "utf8");
    const { version } = JSON.parse(manifest) as { version: string };
    expect(HASH_BUILD).toBe(`hash-wasm ${version}`);
  });
});
