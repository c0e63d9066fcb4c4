import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, describe, expect, it } from "vitest";

import { only } from "../../../src/lib/only.ts";
import { streamOf } from "../../../src/lib/stream-of.ts";
import { DEFAULT_PACK_LIMITS } from "../../../src/git/pack/limits.ts";
import { writePack } from "../../../src/git/catalog/pack-writer.ts";
import { type FetchNeeds, planFetch } from "../../../src/git/walk/fetch-plan.ts";
import { KeptObjects } from "../../../src/git/walk/kept-objects.ts";
import { codec } from "../../../src/storage/codec.ts";
import { packKey } from "../../../src/storage/keys.ts";
import type { PackRecord } from "../../../src/storage/repository-records.ts";
import { GitStorage, type StoredRepository } from "../../../src/storage/storage.ts";
import type { StorageUsage } from "../../../src/storage/storage-usage.ts";
import { DiskBucket } from "../../support/disk-bucket.ts";
import { LargeHistory, writeBlobPack } from "../../support/large-packs.ts";
import { MemoryWatch } from "../../support/memory-watch.ts";

const MB = 1024 * 1024;
/** Maximum bytes that a push, a clone or a merge may allocate. */
const BUFFERED_BYTES_MAX = 64 * MB;
/**
 * Minimum share of the measured memory that gauges must count. The rest allows for the part sent
 * last, which the runtime may still hold on a slow machine.
 */
const COUNTED_SHARE_MIN = 0.75;
/** Measurements below this are not compared, since the runtime's own buffers dominate them. */
const COMPARED_BYTES_MIN = 8 * MB;
const CHUNK_BYTES = 256 * 1024;
const TIMEOUT_MS = 300_000;

/** Tests with the full sizes, which take a minute. */
const isLarge = process.env["EDGEFORGE_TEST_LARGE"] !== undefined;
/** Sizes of incompressible files in bytes: 260 MB in total, or a fifth of that. */
const BLOB_SIZES = [
  ...Array.from({ length: isLarge ? 70 : 12 }, () => 3 * MB),
  (isLarge ? 50 : 20) * MB,
];
/** Commits of four objects each: 149,000 objects, or a sixth of that. */
const COMMITS = isLarge ? 37_000 : 6000;
const MORE_COMMITS = 300;

const NETWORK = "network";

const disk = await DiskBucket.make();
const directory = await mkdtemp(join(tmpdir(), "edgeforge-memory-"));
afterAll(async () => {
  await disk.remove();
  await rm(directory, { recursive: true, force: true });
});

/** The storage of one request, with a stub of the repository object that lists `packs`. */
function openStorage(packs: readonly PackRecord[]) {
  const listed = [...packs];
  const object = {
    beginUpload: async () => ({ version: 1, head: null, refs: [], packs: listed }),
    replaceCollected: async (_: object, { pack }: { pack: PackRecord }) => {
      listed.splice(0, listed.length, pack);
      return { kind: "replaced" };
    },
    replacePacks: async (_id: string, _names: string[], pack: PackRecord) => {
      listed.splice(0, listed.length, pack);
      return { kind: "replaced" };
    },
  };
  const objects = { getByName: () => object };
  const nothing = { get: async () => undefined, open: async () => undefined, put: () => {} };
  const storage = new GitStorage(disk.r2, objects as never, {} as never, nothing);
  const stored = storage.repository({ objectName: "o", networkName: NETWORK });
  return { usage: storage.usage, stored, listed };
}

/** Runs work and checks its memory against the bound, as gauges count it and as measured. */
async function bounded<T>(name: string, usage: StorageUsage, work: () => Promise<T>): Promise<T> {
  const watch = await MemoryWatch.make();
  // Measures at each megabyte of a new peak, and cheaply at each bucket call.
  let next = MB;
  const hold = usage.hold.bind(usage);
  usage.hold = (bytes) => {
    hold(bytes);
    if (usage.bufferedBytesPeak < next) return;
    next = usage.bufferedBytesPeak + MB;
    watch.look();
  };
  disk.onCall = () => watch.glance();
  const result = await work();
  watch.look();
  disk.onCall = () => {};

  const { peakBytes: measured } = watch;
  const { bufferedBytesPeak: counted } = usage;
  const inMb = (bytes: number): string => `${(bytes / MB).toFixed(1)} MB`;
  if (isLarge) console.log(`${name}: ${inMb(counted)} counted, ${inMb(measured)} measured`);
  expect(counted, name).toBeLessThanOrEqual(BUFFERED_BYTES_MAX);
  expect(measured, name).toBeLessThanOrEqual(BUFFERED_BYTES_MAX);
  const least = measured > COMPARED_BYTES_MIN ? COUNTED_SHARE_MIN * measured : 0;
  expect(counted, name).toBeGreaterThanOrEqual(least);
  return result;
}

/** Copies packs to new names that the isolate has not cached, so that their tables are read. */
function copyUncached(packs: readonly PackRecord[]): Promise<PackRecord[]> {
  return Promise.all(
    packs.map(async (pack) => {
      const name = `copy-${copies++}`;
      for (const kind of ["pack", "idx", "sidecar"] as const) {
        await disk.copy(packKey(NETWORK, pack.name, kind), packKey(NETWORK, name, kind));
      }
      return { ...pack, name };
    }),
  );
}
let copies = 0;

async function* readChunks(path: string): AsyncGenerator<Uint8Array> {
  const bytes = new Uint8Array(CHUNK_BYTES);
  const file = await open(path);
  for (;;) {
    const { bytesRead } = await file.read(bytes, 0, bytes.length);
    if (bytesRead === 0) break;
    yield bytes.subarray(0, bytesRead);
  }
  await file.close();
}

/** Pushes the pack file at `path` to a repository of `packs`, whose branch is at `tips`. */
async function push(
  name: string,
  path: string,
  packs: readonly PackRecord[],
  tips: readonly string[] = [],
): Promise<PackRecord> {
  const { usage, stored } = openStorage(await copyUncached(packs));
  const received = await bounded(name, usage, async () => {
    const { uploadId, snapshot } = await stored.beginUpload(0);
    const receiver = stored.receivePack(uploadId, DEFAULT_PACK_LIMITS);
    for await (const chunk of readChunks(path)) await receiver.write(chunk);
    const refs = tips.map((oid) => ({ name: "refs/heads/main", oid, peeledOid: null }));
    return receiver.finish(await stored.open(snapshot), { ...snapshot, refs });
  });
  if (!received) throw new Error("the pack is empty");
  return received.record;
}

/** Reads a response piece by piece, pausing after each. Returns its length in bytes. */
async function readSlowly(pieces: AsyncGenerator<Uint8Array>): Promise<number> {
  let bytes = 0;
  for await (const piece of streamOf(pieces, () => {})) {
    bytes += piece.length;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return bytes;
}

/** A clone of all that a commit reaches. */
const needsOf = (oid: string): FetchNeeds => ({
  wantOids: [oid],
  haveOids: [],
  clientShallowOids: [],
  cut: undefined,
  filter: undefined,
  tags: [],
  isThin: false,
});

/** Clones all objects reachable from a commit. */
async function cloneAs(
  name: string,
  oid: string,
  known: readonly PackRecord[],
  takesOfsDelta: boolean,
): Promise<number> {
  const packs = await copyUncached(known);
  const { usage, stored } = openStorage(packs);
  return bounded(name, usage, async () => {
    const { catalog, graph, objects } = await stored.open({ packs });
    const plan = await planFetch(graph, catalog, objects, needsOf(oid));
    const gauge = stored.openGauge();
    return readSlowly(writePack(catalog, objects, plan.toPack, { codec, takesOfsDelta, gauge }));
  });
}

/** The same entry by entry: for a receiver of deltas by id, no entry stays as it is stored. */
const clone = (name: string, oid: string, packs: readonly PackRecord[]): Promise<number> =>
  cloneAs(name, oid, packs, false);

/** The same by streaming packs as they are stored. */
const passThrough = (name: string, oid: string, packs: readonly PackRecord[]): Promise<number> =>
  cloneAs(name, oid, packs, true);

/** Rewrites the only pack of a repository without what a commit does not reach. */
async function collect(stored: StoredRepository, packs: PackRecord[], tip: string) {
  const search = async (): Promise<Uint32Array> => {
    const repository = await stored.open({ packs });
    const kept = new KeptObjects(repository.catalog);
    await kept.addReachable(repository, [tip], true);
    kept.addLargeBases();
    return kept.bitsOf(0);
  };
  const bits = await search();
  const isKept = (position: number): boolean =>
    (((bits[position >>> 5] ?? 0) >>> (position & 31)) & 1) === 1;
  const epoch = { collections: 0, adoptions: 0 };
  return stored.collectPack(only(packs), isKept, { isShared: false, epoch }, 0);
}

describe("storage stays below its memory bound and counts its memory", () => {
  it(
    "for large incompressible files",
    async () => {
      const path = join(directory, "blobs");
      const oid = writeBlobPack(path, BLOB_SIZES);
      const pack = await push("a push of large files", path, []);
      expect(await clone("a clone of them, by entries", oid, [pack])).toBe(pack.packBytes);
      expect(await passThrough("a clone of them, passed through", oid, [pack])).toBe(
        pack.packBytes,
      );
    },
    TIMEOUT_MS,
  );

  it(
    "for many small objects",
    async () => {
      const path = join(directory, "objects");
      const history = new LargeHistory(40, 30, 14_000);
      const { objects, oid: tip } = history.writePack(path, COMMITS);
      const first = await push("a push of many objects", path, []);
      expect(first.objectCount).toBe(objects);
      const { oid } = history.writePack(path, MORE_COMMITS);
      const second = await push("a thin push on top", path, [first], [tip]);
      await clone("a clone of both", oid, [first, second]);
      const packs = await copyUncached([first, second]);

      const { usage, stored, listed } = openStorage(packs);
      await bounded("a merge of both", usage, () => stored.mergePacks(packs, 0));
      // The bases that completed the second pack are in the first.
      expect(listed).toMatchObject([{ objectCount: objects + 4 * MORE_COMMITS }]);

      const merged = await copyUncached(listed);
      const collecting = openStorage(merged);
      await bounded("a search, and a pack without what it found", collecting.usage, () =>
        collect(collecting.stored, merged, tip),
      );
      const { graph, catalog, objects: packed } = await stored.open({ packs: merged });
      const reached = (await planFetch(graph, catalog, packed, needsOf(tip))).toPack.size;
      expect(collecting.listed).toMatchObject([{ objectCount: reached }]);
      expect(reached).toBeLessThan(objects + 4 * MORE_COMMITS);
    },
    TIMEOUT_MS,
  );
});
