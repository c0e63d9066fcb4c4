import { constants, deflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { runNow } from "../../../src/git/budget.ts";
import { GitError } from "../../../src/git/error.ts";
import { hashObject } from "../../../src/git/object/hash-object.ts";
import { BLOB, COMMIT, kindOf, TAG, TREE } from "../../../src/git/object/kind.ts";
import { formatOid } from "../../../src/git/oid.ts";
import { applyDelta, type DeltaHeader, readDeltaHeader } from "../../../src/git/pack/delta.ts";
import { DeltaEncoder } from "../../../src/git/pack/delta-encoder.ts";
import { formatEntryHeader } from "../../../src/git/pack/entry-header.ts";
import { DEFAULT_PACK_LIMITS } from "../../../src/git/pack/limits.ts";
import { formatPackHeader, PackScanner } from "../../../src/git/pack/pack-scanner.ts";
import type { KernelExports } from "../../../src/git/pack/pack-kernel.ts";
import { PackKernel } from "../../../src/git/pack/pack-kernel.ts";
import { Inflater } from "../../../src/git/zlib/inflate.ts";
import { codec } from "../support/codec.ts";
import { makeFixture } from "../support/git.ts";
import { openKernel, openKernelExports } from "../support/kernel.ts";
import { index, makePack, scan } from "../support/packs.ts";
import { makeRandom, type Random } from "../support/random.ts";

const CONTENT_BYTES_MAX = 256 * 1024;

const kernel = openKernel();
const repository = makeFixture("history");

/**
 * Content typical of git objects: text, runs, noise, bytes of uneven frequency, and a period of a
 * few bytes.
 */
function makeContent(random: Random, bytesMax = CONTENT_BYTES_MAX + 1): Uint8Array {
  const length = random.below(Math.min(bytesMax, random.pick([4, 100, 3000, 70_000, bytesMax])));
  switch (random.below(5)) {
    case 0:
      return Buffer.from("the quick brown fox jumps over the lazy dog\n".repeat(length / 40 + 1));
    case 1:
      return new Uint8Array(length).fill(length);
    case 2:
      return random.bytes(length);
    case 3: {
      const period = random.bytes(1 + random.below(40));
      return Uint8Array.from({ length }, (_, at) => period[at % period.length] ?? 0);
    }
    default:
      return random.bytes(length).map((byte) => Math.floor((byte * byte) / 256));
  }
}

function deflate(random: Random, content: Uint8Array): Buffer {
  return deflateSync(content, {
    level: random.below(10),
    memLevel: 1 + random.below(9),
    windowBits: 9 + random.below(7),
    strategy: random.pick([
      constants.Z_DEFAULT_STRATEGY,
      constants.Z_FILTERED,
      constants.Z_FIXED,
      constants.Z_HUFFMAN_ONLY,
      constants.Z_RLE,
    ]),
  });
}

/**
 * What the engine's own decoder makes of a stream of a content of `sizeBytes`; undefined if it
 * refuses it.
 */
function inflate(stream: Uint8Array, sizeBytes: number): Uint8Array | undefined {
  const inflater = new Inflater();
  const output = new Uint8Array(sizeBytes);
  try {
    const status = inflater.run(stream, 0, stream.length, output, 0, sizeBytes);
    const isWhole = inflater.inputOffset === stream.length && inflater.outputOffset === sizeBytes;
    return status === "done" && isWhole ? output : undefined;
  } catch (error) {
    if (error instanceof GitError) return undefined;
    throw error;
  }
}

/** What the engine's own code makes of a delta; undefined if it refuses it. */
function apply(base: Uint8Array, delta: Uint8Array, header: DeltaHeader): Uint8Array | undefined {
  const result = new Uint8Array(header.resultBytes);
  try {
    applyDelta(base, delta, header, result);
    return result;
  } catch (error) {
    if (error instanceof GitError) return undefined;
    throw error;
  }
}

const same = (a: Uint8Array | undefined, b: Uint8Array | undefined): boolean =>
  a === undefined || b === undefined ? a === b : Buffer.compare(a, b) === 0;

describe("the kernel's inflate", () => {
  it("takes every stream of zlib", () => {
    const random = makeRandom(1);
    for (let round = 0; round < 400; round++) {
      const content = makeContent(random);
      const stream = deflate(random, content);
      const isUsual = content.length <= CONTENT_BYTES_MAX && stream.length <= CONTENT_BYTES_MAX;
      const taken = kernel.inflate(stream, 0, stream.length, content.length);
      expect(same(taken, isUsual ? content : undefined), `round ${round}`).toBe(true);
    }
  });

  it("takes no stream that is cut off, followed by other bytes, or of another size", () => {
    const random = makeRandom(2);
    for (let round = 0; round < 200; round++) {
      const content = makeContent(random, 5000);
      const stream = deflate(random, content);
      const followed = Buffer.concat([stream, random.bytes(20)]);
      const cut = random.below(stream.length);
      expect(kernel.inflate(stream, 0, cut, content.length), `round ${round}`).toBeUndefined();
      const longer = kernel.inflate(followed, 0, stream.length + 1, content.length);
      expect(longer, `round ${round}`).toBeUndefined();
      for (const sizeBytes of [content.length - 1, content.length + 1, 0, CONTENT_BYTES_MAX]) {
        if (sizeBytes < 0 || sizeBytes === content.length) continue;
        const taken = kernel.inflate(stream, 0, stream.length, sizeBytes);
        expect(taken, `round ${round}`).toBeUndefined();
      }
    }
  });

  // The kernel may leave what is valid to the engine, but must not take what the engine refuses.
  it("takes a damaged stream only if the engine reads the same", () => {
    const random = makeRandom(3);
    for (let round = 0; round < 3000; round++) {
      const content = makeContent(random, 2000);
      const stream = deflate(random, content);
      for (let times = 1 + random.below(3); times > 0; times--) {
        // Most damage in the first bytes, where codes are described.
        const at = random.below(random.pick([4, 40, stream.length]));
        if (at < stream.length) stream[at] = (stream[at] ?? 0) ^ (1 << random.below(8));
      }
      const taken = kernel.inflate(stream, 0, stream.length, content.length);
      const isRight = taken === undefined || same(taken, inflate(stream, content.length));
      expect(isRight, `round ${round}`).toBe(true);
    }
  });

  it.each([
    ["a header of another method", [0x79, 0x9c, 0, 0]],
    ["a header that fails its check", [0x78, 0x9d, 0, 0]],
    ["a preset dictionary", [0x78, 0xbb, 0, 0]],
    ["a window of more than 32 KB", [0x88, 0x1c, 3, 0, 0, 0, 0, 1]],
    ["a reserved block type", [0x78, 0x9c, 0x07, 0, 0, 0]],
    ["a stored length without its complement", [0x78, 0x9c, 0x01, 1, 0, 1, 0, 0, 0]],
    ["a distance before the start", [0x78, 0x9c, 0x03, 0x02]],
    ["too many code lengths", [0x78, 0x9c, 0xfd, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]],
  ])("does not take %s", (_, bytes) => {
    const stream = Uint8Array.from([...bytes, ...Array(40).fill(0)]);
    for (let sizeBytes = 0; sizeBytes < 20; sizeBytes++) {
      for (let end = 0; end <= stream.length; end++) {
        expect(kernel.inflate(stream, 0, end, sizeBytes)).toBeUndefined();
      }
    }
  });

  it("does not take a stream whose checksum does not match", () => {
    const stream = deflateSync(Buffer.from("content"));
    stream[stream.length - 1] = (stream.at(-1) ?? 0) ^ 1;
    expect(kernel.inflate(stream, 0, stream.length, 7)).toBeUndefined();
  });
});

describe("the kernel's deltas", () => {
  it("make and hash the object that the engine makes", () => {
    const random = makeRandom(4);
    for (let round = 0; round < 400; round++) {
      const base = makeContent(random, 60_000);
      const content = Buffer.concat([
        base.subarray(random.below(base.length + 1)),
        makeContent(random, 3000),
        base.subarray(0, random.below(base.length + 1)),
      ]);
      const delta = new DeltaEncoder(base).encode(content, 1 << 20);
      const header = delta && readDeltaHeader(delta);
      if (!header) continue;
      const kind = random.pick([COMMIT, TREE, BLOB, TAG]);
      const made = kernel.resolve(base, delta, header, kind);
      expect(same(made, content), `round ${round}`).toBe(true);
      const longer = Buffer.concat([base, Buffer.of(0)]);
      expect(kernel.resolve(longer, delta, header, kind), `round ${round}`).toBeUndefined();
      kernel.resolve(base, delta, header, kind);
      const oid = new Uint8Array(22);
      kernel.copyOid(oid, 1);
      const isRight = formatOid(oid, 1) === hashObject(kindOf(kind), content);
      expect(isRight || !kernel.hashes(content.length), `round ${round}`).toBe(true);
    }
  });

  it("take a damaged delta only if the engine makes the same", () => {
    const random = makeRandom(5);
    let taken = 0;
    for (let round = 0; round < 2000; round++) {
      const base = makeContent(random, 3000);
      const content = Buffer.concat([base.subarray(50), random.bytes(30), base.subarray(0, 200)]);
      const delta = new DeltaEncoder(base).encode(content, 1 << 20)?.slice();
      const header = delta && readDeltaHeader(delta);
      if (!header) continue;
      const at = header.next + random.below(delta.length - header.next);
      delta[at] = random.below(256);
      const end = random.below(4) === 0 ? at : delta.length;
      const damaged = delta.subarray(0, end);
      const made = kernel.resolve(base, damaged, header, BLOB);
      if (made) taken++;
      expect(same(made, apply(base, damaged, header)), `round ${round}`).toBe(true);
    }
    expect(taken).toBeGreaterThan(100);
  });
});

describe("scanning a pack with the kernel", () => {
  const packs: [string, Buffer][] = [
    ["with deltas by offset", makePack(repository, [], ["--all", "--delta-base-offset"])],
    ["with deltas by id", makePack(repository, [], ["--all"])],
    ["without deltas", makePack(repository, [], ["--all", "--depth=0"])],
    ["without objects", makePack(repository, [])],
  ];

  it.each(packs)("%s produces the engine's table for any chunk size", (_, bytes) => {
    const ours = describeScan(bytes, bytes.length);
    for (const chunkBytes of [1, 2, 3, 7, 19, 20, 21, 100, 4096, bytes.length]) {
      expect(describeScan(bytes, chunkBytes, kernel)).toEqual(ours);
    }
  });

  it("leaves nothing to the engine in one chunk", () => {
    const [, bytes] = packs[0] ?? ["", Buffer.alloc(0)];
    const counting = countRecords();
    const { table } = scan(bytes, bytes.length, undefined, counting.kernel);
    expect(counting.records()).toBe(table.count);
  });

  it.each([64 * 1024, 100_000, 256 * 1024])(
    "leaves nothing to the engine in chunks of %i bytes, however they are cut",
    (chunkBytes) => {
      const random = makeRandom(8);
      const entries = Array.from({ length: 120 }, () => {
        const content = random.bytes(random.below(60_000));
        return [formatEntryHeader(BLOB, content.length), deflate(random, content)];
      });
      const bytes = makeRawPack(entries.length, entries.flat());
      const counting = countRecords();
      const { table } = scan(bytes, chunkBytes, undefined, counting.kernel);
      expect(counting.records()).toBe(table.count);
      expect(describeScan(bytes, chunkBytes, kernel)).toEqual(describeScan(bytes, bytes.length));
      expect(counting.scannedBytes()).toBeLessThan(6 * bytes.length);
    },
  );

  // SECURITY: a body may arrive in pieces of any size; an entry must not be tried again for each of
  // them.
  it("tries an entry that arrives in small chunks once", () => {
    const content = makeRandom(9).bytes(200_000);
    const entry = [formatEntryHeader(BLOB, content.length), deflateSync(content)];
    const bytes = makeRawPack(1, entry);
    const counting = countRecords();
    expect(scan(bytes, 100, undefined, counting.kernel).table.count).toBe(1);
    expect(counting.scannedBytes()).toBeLessThan(1000);
  });

  // Entries of every size around the bounds of the kernel: contents, streams, slices, batches.
  it("reads small and large entries in any order", async () => {
    const random = makeRandom(6);
    const sizes = [
      0, 1, 55, 56, 63, 64, 1535, 1536, 1537, 5000, 262_143, 262_144, 262_145, 600_000,
    ];
    const entries: Uint8Array[] = [];
    for (let round = 0; round < 60; round++) {
      const length = random.pick(sizes);
      const isText = random.below(2) === 0;
      const content = isText ? Buffer.alloc(length, "some text ") : random.bytes(length);
      entries.push(formatEntryHeader(BLOB, length), deflate(random, content));
    }
    for (let round = 0; round < 3000; round++) {
      entries.push(formatEntryHeader(BLOB, 5), deflateSync(Buffer.from(`n${round}`.padEnd(5))));
    }
    const bytes = makeRawPack(entries.length / 2, entries);
    const ours = describeScan(bytes, bytes.length);
    for (const chunkBytes of [10_000, 65_536, 262_144, bytes.length]) {
      expect(describeScan(bytes, chunkBytes, kernel)).toEqual(ours);
    }
    const byKernel = await index(bytes, { kernel });
    expect(byKernel.table.oids).toEqual((await index(bytes)).table.oids);
  });

  // SECURITY: each such entry is left to the engine; a long slice must not be copied anew for each
  // of them.
  it("copies little for entries that it does not take", () => {
    const count = 5000;
    // A size of five digits, the last of which are zero.
    const padded = Uint8Array.of(0xb1, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00);
    const entries = Array.from({ length: count }, (_, at) => [
      padded,
      deflateSync(Uint8Array.of(at)),
    ]);
    const bytes = makeRawPack(count, entries.flat());
    const counting = countRecords();
    const { table } = scan(bytes, bytes.length, undefined, counting.kernel);
    expect([table.count, counting.records()]).toEqual([count, 0]);
    expect(bytes.length).toBeGreaterThan(70_000);
    expect(counting.scannedBytes()).toBeLessThan(bytes.length + count * 16 * 1024);
  });

  it("refuses damaged packs in the engine's words", () => {
    const random = makeRandom(7);
    const [, bytes] = packs[0] ?? ["", Buffer.alloc(0)];
    for (let round = 0; round < 400; round++) {
      const damaged = Buffer.from(bytes);
      const at = random.below(damaged.length);
      damaged[at] = (damaged[at] ?? 0) ^ (1 << random.below(8));
      const chunkBytes = random.pick([700, damaged.length]);
      expect(describeScan(damaged, chunkBytes, kernel)).toEqual(describeScan(damaged, chunkBytes));
    }
  });

  it.each([
    ["objects", { objectBytesMax: 100 }],
    ["trees", { structureBytesMax: 100 }],
    ["everything together", { inflatedBytesMax: 5000 }],
    ["entries", { objectsMax: 3 }],
  ])("refuses too large %s in the engine's words", (_, limit) => {
    const [, bytes] = packs[0] ?? ["", Buffer.alloc(0)];
    const limits = { ...DEFAULT_PACK_LIMITS, ...limit };
    const ours = describeScan(bytes, bytes.length, undefined, limits);
    expect(ours).toMatch(/^limit: /);
    expect(describeScan(bytes, bytes.length, kernel, limits)).toBe(ours);
  });
});

function makeRawPack(count: number, entries: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat([formatPackHeader(count), ...entries]);
  const hash = codec.createSha1();
  hash.update(body);
  return Buffer.concat([body, hash.digest()]);
}

/**
 * The whole table of a pack and the objects that the listener receives, or the words that refuse
 * it.
 */
function describeScan(
  pack: Uint8Array,
  chunkBytes: number,
  withKernel?: PackKernel,
  limits = DEFAULT_PACK_LIMITS,
): unknown {
  const contents: string[] = [];
  const listen = (entry: number, kind: number, content: Uint8Array): void => {
    contents.push(`${entry} ${kind} ${content.length} ${hashObject("blob", content, codec)}`);
  };
  const scanner = new PackScanner(codec, limits, listen, withKernel);
  try {
    for (let at = 0; at < pack.length; at += chunkBytes) {
      runNow(scanner.push(pack.subarray(at, at + chunkBytes)));
    }
    const { table, checksum, sizeBytes } = scanner.finish();
    const { count } = table;
    const entries = Array.from({ length: count }, (_, entry) =>
      [
        table.types[entry],
        table.kinds[entry],
        table.offset(entry),
        table.end(entry),
        table.sizes[entry],
        table.crcs[entry],
        table.bases[entry],
        formatOid(table.oids, entry * 20),
        Buffer.from(table.deltas.get(entry) ?? []).toString("hex"),
        Buffer.from(table.refBases.get(entry) ?? []).toString("hex"),
        table.largeDeltas.has(entry),
      ].join(" "),
    );
    return { checksum, sizeBytes, entries, contents };
  } catch (error) {
    if (error instanceof GitError) return `${error.code}: ${error.message}`;
    throw error;
  }
}

/** A kernel that counts what it scans. */
function countRecords() {
  const exports = openKernelExports();
  let records = 0;
  let scannedBytes = 0;
  const counted: KernelExports = {
    ...exports,
    scan: (start, end, countMax, hashBytesMax) => {
      const count = exports.scan(start, end, countMax, hashBytesMax);
      records += count;
      scannedBytes += end - start;
      return count;
    },
  };
  return {
    kernel: new PackKernel(counted),
    records: () => records,
    scannedBytes: () => scannedBytes,
  };
}
