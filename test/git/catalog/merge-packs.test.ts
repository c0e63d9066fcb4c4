import { createHash } from "node:crypto";
import { deflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { runNow } from "../../../src/git/budget.ts";
import { hashObject } from "../../../src/git/object/hash-object.ts";
import { BLOB, type ObjectKind } from "../../../src/git/object/kind.ts";
import { oidBytes, writeOid } from "../../../src/git/oid.ts";
import { DeltaEncoder } from "../../../src/git/pack/delta-encoder.ts";
import { formatEntryHeader, REF_DELTA } from "../../../src/git/pack/entry-header.ts";
import { formatIdx, IdxFile } from "../../../src/git/pack/idx-file.ts";
import { findMerge } from "../../../src/git/pack/find-merge.ts";
import { PackBuilder } from "../../../src/git/pack/pack-builder.ts";
import { formatPackHeader } from "../../../src/git/pack/pack-scanner.ts";
import { PackTable } from "../../../src/git/pack/pack-table.ts";
import type { StoredObject } from "../../../src/git/store.ts";
import { codec } from "../support/codec.ts";
import { describeSidecar } from "../support/describe-sidecar.ts";
import { git, makeFixture, makeRepository } from "../support/git.ts";
import { indexByGit } from "../support/packs.ts";
import {
  gcBytes,
  type KeptPack,
  makeRepositoryOf,
  merge,
  receivePack,
  receivePushes,
} from "../support/pushes.ts";
import { makeRandom } from "../support/random.ts";
import { gitReader, storePack } from "../support/sidecars.ts";
import { MemorySource } from "../support/sources.ts";
import { caseCount } from "../../support/sample.ts";
import { makeTextHistory, readAllByGit, receiveWrites } from "../support/text-history.ts";

const fixture = makeFixture("history");
const FIXTURE_TIPS = [
  "light",
  "main~6",
  "main~3",
  "main~1",
  "main",
  "left",
  "right",
  "v1",
  "pages",
];
const fixturePushes = await receivePushes(fixture, FIXTURE_TIPS);

/** Commits of a history of texts, each pushed alone, and written through the API. */
const COMMITS = caseCount(120, 300);
/** Two thirds of them. */
const OLDER = (2 * COMMITS) / 3;

const text = makeTextHistory(COMMITS);
const textPushes = await receivePushes(text.directory, text.tips);
const textWrites = await receiveWrites(text);

/**
 * Returns the length of the longest delta chain, from `git verify-pack`, which checks every object.
 */
function longestChain(directory: string, { idx }: KeptPack): number {
  const file = `objects/pack/pack-${idx.packChecksum}.idx`;
  const found = git(directory, ["verify-pack", "-v", file]).matchAll(/^chain length = (\d+)/gm);
  return Math.max(0, ...Array.from(found, ([, length]) => Number(length)));
}

describe("mergePacks", { timeout: 60_000 }, () => {
  it("writes one pack that git accepts, with every object once and unchanged", async () => {
    const merged = await merge(fixturePushes);
    const all = makeRepositoryOf(fixturePushes, git(fixture, ["rev-parse", "pages"]));
    const one = makeRepositoryOf([merged], git(fixture, ["rev-parse", "pages"]));
    git(makeRepository(), ["index-pack", "--strict", "--stdin"], { input: merged.pack });
    expect(git(one, ["fsck", "--full", "--strict"])).not.toMatch(/error|missing|broken/);
    expect(readAllByGit(one)).toEqual(readAllByGit(all));
    expect(merged.merged.objectCount).toBe(merged.idx.count);
    expect(merged.merged.packBytes).toBe(merged.pack.length);
  });

  it("writes the index that git would write", async () => {
    const merged = await merge(textPushes.slice(0, 40));
    expect(Buffer.from(merged.idxBytes).equals(indexByGit(merged.pack).idx)).toBe(true);
  });

  it("writes commits first, then tags, trees and blobs, bases before their deltas", async () => {
    const { idx, sidecar } = await merge(fixturePushes);
    const positions = Array.from(sidecar.kinds.keys()).toSorted(
      (a, b) => idx.offset(a) - idx.offset(b),
    );
    const kinds = positions.map((position) => sidecar.kinds[position] ?? 0);
    expect([...new Set(kinds)]).toEqual([1, 4, 2, 3]);
    expect(kinds).toEqual(
      kinds.toSorted((a, b) => "1423".indexOf(`${a}`) - "1423".indexOf(`${b}`)),
    );
    const deltas = positions.filter((position) => (sidecar.bases[position] ?? -1) >= 0);
    expect(deltas.length).toBeGreaterThan(0);
    for (const position of deltas) {
      expect(idx.offset(sidecar.bases[position] ?? 0)).toBeLessThan(idx.offset(position));
    }
  });

  it("builds the same sidecar as indexing the merged pack", async () => {
    const generations = new Map<string, number>();
    for (const { commits } of fixturePushes.map(describeSidecar)) {
      for (const { oid, generation } of commits) generations.set(oid, generation ?? 0);
    }
    const indexAnew = ({ pack }: KeptPack) =>
      storePack(pack, gitReader(fixture), (oid) => generations.get(oid));

    const all = await merge(fixturePushes);
    const allAnew = await indexAnew(all);
    expect(describeSidecar(all)).toEqual(describeSidecar(allAnew));
    expect([...all.sidecar.bases]).toEqual([...allAnew.sidecar.bases]);

    // The bases that completed thin packs have no rows in the newer packs: older packs have their
    // rows.
    const newer = await merge(fixturePushes.slice(3));
    const ours = describeSidecar(newer);
    const rows = new Set(ours.commits.map(({ oid }) => oid));
    const { outside: _, ...anew } = describeSidecar(await indexAnew(newer));
    const commits = anew.commits.filter(({ oid }) => rows.has(oid));
    expect(ours).toMatchObject({ ...anew, commits });
  });

  it("merges the newest packs when they refer to older ones", async () => {
    const tip = text.tips.at(-1) ?? "";
    const merged = await merge(textPushes.slice(OLDER));
    const directory = makeRepositoryOf([...textPushes.slice(0, OLDER), merged], tip);
    expect(git(directory, ["fsck", "--full", "--strict"])).toBe("");
    expect(longestChain(directory, merged)).toBeLessThanOrEqual(50);
    expect(git(directory, ["rev-list", "--objects", "main"])).toBe(
      git(text.directory, ["rev-list", "--objects", "main"]),
    );
  });
});

describe("mergePacks against git gc", { timeout: 60_000 }, () => {
  it("packs pushes of one commit each as small as git does", async () => {
    const tip = text.tips.at(-1) ?? "";
    const merged = await merge(textPushes);
    const directory = makeRepositoryOf([merged], tip);
    expect(git(directory, ["fsck", "--full", "--strict"])).toBe("");
    expect(longestChain(directory, merged)).toBeLessThanOrEqual(50);
    expect(merged.pack.length / gcBytes(makeRepositoryOf(textPushes, tip))).toBeLessThan(1.1);
  });

  it("makes deltas of objects that writes through the API stored whole", async () => {
    const tip = text.tips.at(-1) ?? "";
    const merged = await merge(textWrites);
    const directory = makeRepositoryOf([merged], tip);
    expect(git(directory, ["fsck", "--full", "--strict"])).toBe("");
    expect(longestChain(directory, merged)).toBeLessThanOrEqual(50);
    expect(merged.pack.length / gcBytes(makeRepositoryOf(textWrites, tip))).toBeLessThan(1.3);
  });
});

/** Returns packs of these sizes, with few objects. */
const sized = (packBytes: readonly number[]) =>
  packBytes.map((bytes) => ({ packBytes: bytes, objectCount: 10 }));

/** Receives packs of the given sizes one by one, and merges after each as `findMerge` selects. */
function simulate(pushes: readonly number[]): {
  sizes: number[];
  mostPacks: number;
  written: number;
} {
  let sizes: number[] = [];
  let mostPacks = 0;
  let written = 0;
  for (const bytes of pushes) {
    sizes.push(bytes);
    const from = findMerge(sized(sizes));
    if (from !== undefined) {
      const merged = sizes.slice(from).reduce((sum, size) => sum + size, 0);
      written += merged;
      sizes = [...sizes.slice(0, from), merged];
    }
    mostPacks = Math.max(mostPacks, sizes.length);
  }
  return { sizes, mostPacks, written };
}

describe("findMerge", () => {
  it.each([
    [[], undefined],
    [[10], undefined],
    [[10, 5], undefined],
    [[10, 6], 0],
    [[40, 10, 5], undefined],
    [[40, 10, 6], 1],
    [[40, 10, 5, 5], 1],
    [[30, 10, 5, 5], 0],
    [[5, 100], 0],
    [[100, 5, 10], 1],
  ])("merges packs of sizes %j from %s on", (packBytes, from) => {
    expect(findMerge(sized(packBytes))).toBe(from);
  });

  const atMost = (packBytes: number, objectCount = 1000) => ({ packBytes, objectCount });

  it("skips a pack that would exceed the limits, and all older ones", () => {
    expect(findMerge(sized([100, 60, 5, 5]), atMost(150))).toBe(2);
    expect(findMerge(sized([100, 60, 50]), atMost(120))).toBe(1);
    expect(findMerge(sized([100, 60, 50]), atMost(80))).toBeUndefined();
    expect(findMerge(sized([100, 60, 50]), atMost(1000, 25))).toBe(1);
  });

  it("keeps few packs and writes each byte few times, for any sizes of pushes", () => {
    const random = makeRandom(9);
    const rows = [
      Array.from({ length: 4096 }, () => 1),
      Array.from({ length: 4096 }, () => 1 + random.below(100)),
      Array.from({ length: 4096 }, () => 2 ** random.below(16)),
      Array.from({ length: 4096 }, (_, at) => at + 1),
    ];
    for (const pushes of rows) {
      const { sizes, mostPacks, written } = simulate(pushes);
      const bytes = pushes.reduce((sum, size) => sum + size, 0);
      for (const [at, size] of sizes.slice(1).entries()) {
        expect(sizes[at]).toBeGreaterThanOrEqual(2 * size);
      }
      expect(mostPacks).toBeLessThanOrEqual(2 + Math.log2(bytes));
      expect(written / bytes).toBeLessThanOrEqual(Math.log(bytes) / Math.log(1.5));
    }
  });
});

describe("merging after every push", { timeout: 60_000 }, () => {
  it("keeps few packs, writes each object few times, and stays as small as git", async () => {
    const pushes = textPushes.slice(0, OLDER);
    const tip = text.tips[OLDER - 1] ?? "";
    let packs: KeptPack[] = [];
    let written = 0;
    for (const push of pushes) {
      packs.push(push);
      const from = findMerge(
        packs.map(({ pack, idx }) => ({ packBytes: pack.length, objectCount: idx.count })),
      );
      if (from === undefined) continue;
      const merged = await merge(packs.slice(from));
      written += merged.idx.count;
      packs = [...packs.slice(0, from), merged];
      expect(packs.length).toBeLessThanOrEqual(8);
    }
    const directory = makeRepositoryOf(packs, tip);
    expect(git(directory, ["fsck", "--full", "--strict"])).toBe("");
    for (const pack of packs) expect(longestChain(directory, pack)).toBeLessThanOrEqual(50);
    expect(git(directory, ["rev-list", "--objects", "main"])).toBe(
      git(text.directory, ["rev-list", "--objects", tip]),
    );
    const objects = git(directory, ["rev-list", "--objects", "main"]).split("\n").length;
    expect(written / objects).toBeLessThan(Math.log(OLDER) / Math.log(1.5));
    const bytes = packs.reduce((sum, { pack }) => sum + pack.length, 0);
    expect(bytes / gcBytes(directory)).toBeLessThan(1.2);
  });
});

/**
 * Builds packs whose entries may name their bases by id, in any order. Whole entries are not
 * compressed.
 */
class PackForge {
  private readonly entries: Buffer[] = [];

  whole(type: number, content: Uint8Array): void {
    this.push(formatEntryHeader(type, content.length), deflateSync(content, { level: 0 }));
  }

  deltaOf(baseOid: string, delta: Uint8Array): void {
    const header = formatEntryHeader(REF_DELTA, delta.length);
    this.push(header, Buffer.from(baseOid, "hex"), deflateSync(delta));
  }

  build(): Buffer {
    const body = Buffer.concat([formatPackHeader(this.entries.length), ...this.entries]);
    return Buffer.concat([body, createHash("sha1").update(body).digest()]);
  }

  private push(...parts: Uint8Array[]): void {
    this.entries.push(Buffer.concat(parts));
  }
}

describe("mergePacks of unusual packs", { timeout: 60_000 }, () => {
  const random = makeRandom(3);
  const first = Buffer.from("a line of text\n".repeat(300));
  const second = Buffer.concat([first, Buffer.from("and one more\n")]);
  const third = Buffer.concat([Buffer.from("first of all\n"), second]);
  const encode = (base: Uint8Array, target: Uint8Array): Uint8Array =>
    new DeltaEncoder(base).encode(target, 1e9) ?? new Uint8Array();

  async function listContents(pack: KeptPack): Promise<Map<string, StoredObject>> {
    const directory = makeRepository();
    git(directory, ["index-pack", "--strict", "--stdin"], { input: pack.pack });
    return readAllByGit(directory);
  }

  it("accepts bases referred to by id that come after their deltas", async () => {
    const forge = new PackForge();
    forge.deltaOf(hashObject("blob", second), encode(second, third));
    forge.deltaOf(hashObject("blob", first), encode(first, second));
    forge.whole(BLOB, first);
    const pushed = await receivePack([], forge.build());
    const other = await receivePack([], buildPack([["blob", random.bytes(100)]]));
    const merged = await merge([pushed, other]);
    const contents = await listContents(merged);
    expect([...contents.keys()].toSorted()).toEqual(
      [
        ...[first, second, third].map((blob) => hashObject("blob", blob)),
        other.idx.oid(0),
      ].toSorted(),
    );
    expect(merged.sidecar.bases.filter((base) => base >= 0)).toHaveLength(2);
  });

  // Each of the two packs stores both objects, one as a delta of the other, in opposite directions.
  it("takes an object in several packs from the oldest", async () => {
    const forge = new PackForge();
    forge.whole(BLOB, first);
    forge.deltaOf(hashObject("blob", first), encode(first, second));
    const older = await receivePack([], forge.build());
    const mirror = new PackForge();
    mirror.whole(BLOB, second);
    mirror.deltaOf(hashObject("blob", second), encode(second, first));
    mirror.deltaOf(hashObject("blob", first), encode(first, third));
    const newer = await receivePack([], mirror.build());
    const merged = await merge([older, newer, older]);
    expect(merged.idx.count).toBe(3);
    expect((await listContents(merged)).get(hashObject("blob", third))?.content).toEqual(third);
    const bases = Array.from(merged.sidecar.bases, (base) =>
      base < 0 ? "" : merged.idx.oid(base),
    );
    const firstAt = merged.idx.find(oidBytes(hashObject("blob", first)));
    expect(bases[firstAt]).toBe("");
  });

  it("accepts a pack that contains only a tag of an object in another pack", async () => {
    const tip = text.tips[0] ?? "";
    const tag = `object ${tip}\ntype commit\ntag v1\ntagger A <a@b> 1 +0000\n\nfirst\n`;
    const [push] = textPushes;
    if (!push) throw new Error("no push");
    const tagPack = await receivePack([push], buildPack([["tag", Buffer.from(tag)]]));
    const other = buildPack([["blob", random.bytes(100)]]);
    const merged = await merge([tagPack, await receivePack([], other)]);
    expect(describeSidecar(merged)).toMatchObject({
      tags: [[tagPack.idx.oid(0), tip]],
      outside: [tip],
    });
    expect(describeSidecar(await merge([push, tagPack])).outside).toEqual([]);
  });

  it("refuses an entry with a flipped bit", async () => {
    const [push] = textPushes;
    if (!push) throw new Error("no push");
    for (const position of [0, 7, push.idx.count - 1]) {
      const pack = Buffer.from(push.pack);
      const at = push.idx.offset(position) + 5;
      pack[at] = (pack[at] ?? 0) ^ 1;
      const corrupted = { ...push, source: new MemorySource(pack) };
      await expect(merge([corrupted])).rejects.toMatchObject({ code: "corrupt" });
      await expect(merge([corrupted], { settledPacks: 0 })).rejects.toMatchObject({
        code: "corrupt",
      });
    }
  });

  it("copies a large object by ranges in bounded memory", async () => {
    const large = Buffer.alloc(40 * 1024 * 1024, random.bytes(1000));
    const forge = new PackForge();
    forge.whole(BLOB, large);
    forge.whole(BLOB, first);
    const pack = forge.build();
    const pushed = await receivePack([], pack);
    let longestRead = 0;
    const source = {
      sizeBytes: pack.length,
      read: (start: number, end: number) => {
        longestRead = Math.max(longestRead, end - start);
        return pushed.source.read(start, end);
      },
    };
    const merged = await merge([{ ...pushed, source }, ...textWrites]);
    expect(longestRead).toBeLessThanOrEqual(1024 * 1024);
    expect(merged.merged.peakBytes).toBeLessThan(32 * 1024 * 1024);
    const copied = (await listContents(merged)).get(hashObject("blob", large))?.content;
    expect(large.equals(copied ?? Buffer.alloc(0))).toBe(true);
  });

  it("makes deltas of objects of several megabytes in bounded memory", async () => {
    const versions = [0, 1, 2, 3].map((version) => {
      const content = Buffer.from(random.bytes(1000)).toString("base64").repeat(2900);
      return Buffer.from(`${version}\n${content.slice(0, 3_900_000)}${version}\n`);
    });
    const packs: KeptPack[] = [];
    for (const content of versions)
      packs.push(await receivePack([], buildPack([["blob", content]])));
    for (const content of versions) {
      const edited = Buffer.concat([Buffer.from("edited\n"), content]);
      packs.push(await receivePack([], buildPack([["blob", edited]])));
    }
    const { merged, sidecar } = await merge(packs, { settledPacks: 0 });
    expect(sidecar.bases.filter((base) => base >= 0)).toHaveLength(4);
    expect(merged.peakBytes).toBeLessThan(40 * 1024 * 1024);
  });

  it("reads and copies offsets that take 64 bits in the index", async () => {
    const [push] = textPushes;
    if (!push) throw new Error("no push");
    // The same pack with an offset added to all entries, known only to the index and the source.
    const gap = 2 ** 33;
    const table = new PackTable();
    for (const position of Array.from({ length: push.idx.count }, (_, at) => at)) {
      const entry = table.add(1, push.idx.offset(position) + gap, 0);
      table.crcs[entry] = push.idx.crc(position);
      writeOid(push.idx.oid(position), table.oids, entry * 20);
    }
    const idx = new IdxFile(runNow(formatIdx(table, push.idx.packChecksum, codec)));
    const source = {
      sizeBytes: push.pack.length + gap,
      read: (start: number, end: number) => {
        const bytes = new Uint8Array(end - start);
        const from = Math.max(0, start - gap);
        bytes.set(push.pack.subarray(from, Math.max(0, end - gap)), Math.max(0, gap - start));
        return Promise.resolve(bytes);
      },
    };
    const merged = await merge([{ ...push, idx, source }]);
    expect(await listContents(merged)).toEqual(await listContents(await merge([push])));
  });

  it("limits its scattered reads in a large pack", async () => {
    const forge = new PackForge();
    forge.whole(BLOB, Buffer.alloc(5 * 1024 * 1024, 1));
    const padding = await receivePack([], forge.build());
    const large = await merge([padding, ...textWrites.slice(0, OLDER)]);
    const mergeWith = async (contentReadsMax: number) => {
      let reads = 0;
      const source = {
        sizeBytes: large.pack.length,
        read: (start: number, end: number) => {
          if (end - start <= 64 * 1024) reads++;
          return large.source.read(start, end);
        },
      };
      const packs = [{ ...large, source }, ...textWrites.slice(OLDER)];
      const merged = await merge(packs, { contentReadsMax });
      expect((await listContents(merged)).size).toBe(merged.idx.count);
      return { reads, bytes: merged.pack.length };
    };
    const free = await mergeWith(2000);
    const bound = await mergeWith(0);
    expect(bound.reads).toBeLessThan(free.reads);
    expect(bound.bytes).toBeGreaterThan(free.bytes);
  });

  it("stays within its budget of compared bytes, and copies the remaining objects", async () => {
    const idle = await merge(textWrites, { workBytesMax: 0, treeBytesMax: 0 });
    const busy = await merge(textWrites);
    expect(idle.sidecar.bases.every((base) => base < 0)).toBe(true);
    expect(idle.pack.length).toBeGreaterThan(busy.pack.length * 3);
    expect((await listContents(idle)).size).toBe(idle.idx.count);
  });
});

function buildPack(objects: readonly (readonly [ObjectKind, Uint8Array])[]): Uint8Array {
  const builder = new PackBuilder(codec);
  for (const [kind, content] of objects) builder.add(kind, content);
  return builder.build();
}
