import { describe, expect, it } from "vitest";
import { applyDelta, readDeltaHeader } from "../../../src/git/pack/delta.ts";
import { DeltaEncoder } from "../../../src/git/pack/delta-encoder.ts";
import { PackBuilder } from "../../../src/git/pack/pack-builder.ts";
import { type OpenPack, PackCatalog } from "../../../src/git/catalog/pack-catalog.ts";
import { type PackWriterOptions, writePack } from "../../../src/git/catalog/pack-writer.ts";
import { PackedObjects } from "../../../src/git/catalog/packed-objects.ts";
import { LocationSet } from "../../../src/git/catalog/location-set.ts";
import { encodeText } from "../../../src/git/byte-text.ts";
import { formatTree } from "../../../src/git/object/tree.ts";
import type { StoredObject } from "../../../src/git/store.ts";
import { codec } from "../support/codec.ts";
import { git, makeFixture, makeRepository } from "../support/git.ts";
import { makePack } from "../support/packs.ts";
import { merge, receivePack, receivePushes } from "../support/pushes.ts";
import { makeRandom } from "../support/random.ts";
import { gitReader, storePack } from "../support/sidecars.ts";
import { MemorySource } from "../support/sources.ts";
import { makeTextHistory, readAllByGit } from "../support/text-history.ts";

const repository = makeFixture("history");
const reader = gitReader(repository);

/** Opens the packs of pushes of each tip, each thin against the tips before. */
async function openPushes(...tips: string[]): Promise<PackCatalog> {
  const packs: OpenPack[] = [];
  const before: string[] = [];
  for (const tip of tips) {
    const bytes = makePack(
      repository,
      [tip, "--not", ...before],
      ["--thin", "--delta-base-offset"],
    );
    const stored = await storePack(bytes, reader);
    packs.push({ ...stored, source: new MemorySource(stored.pack) });
    before.push(tip);
  }
  return new PackCatalog(packs);
}

const lines = (text: string): string[] => text.split("\n").filter((line) => line !== "");
const listObjects = (...revisions: string[]): string[] =>
  lines(git(repository, ["rev-list", "--objects", "--no-object-names", ...revisions]));

function locationsOf(catalog: PackCatalog, oids: readonly string[]): LocationSet {
  const set = new LocationSet(catalog);
  for (const oid of oids) {
    const location = catalog.find(oid);
    if (location) set.add(location);
  }
  return set;
}

async function collect(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const list: Uint8Array[] = [];
  for await (const piece of pieces) list.push(piece);
  return Buffer.concat(list);
}

describe("writePack", () => {
  it("writes the given objects from one pack or many, as a pack that git accepts", async () => {
    for (const tips of [["main"], ["main~6", "main~3", "main~1", "main"]]) {
      const catalog = await openPushes(...tips);
      const objects = new PackedObjects(catalog);
      for (const revisions of [["main"], ["main~3"], ["main", "^main~2"]]) {
        for (const takesOfsDelta of [true, false]) {
          const oids = listObjects(...revisions);
          const toPack = locationsOf(catalog, oids);
          const pack = await collect(writePack(catalog, objects, toPack, { codec, takesOfsDelta }));
          const directory = makeRepository();
          git(directory, ["index-pack", "--stdin"], { input: pack });
          const stored = git(directory, [
            "cat-file",
            "--batch-all-objects",
            "--batch-check=%(objectname)",
          ]);
          expect(lines(stored)).toEqual(oids.toSorted());
        }
      }
    }
  });

  it("writes a whole history that passes git index-pack --strict", async () => {
    const catalog = await openPushes("main~4", "main");
    const toPack = locationsOf(catalog, listObjects("main"));
    const options = { codec, takesOfsDelta: true };
    const pack = await collect(writePack(catalog, new PackedObjects(catalog), toPack, options));
    const answer = git(makeRepository(), ["index-pack", "--strict", "--stdin"], { input: pack });
    expect(answer).toMatch(/^pack\t[0-9a-f]{40}$/);
  });

  // A delta whose base is not sent stays a delta only if the receiver has the base.
  it("keeps deltas against unsent bases only if the receiver has the base", async () => {
    const catalog = await openPushes("main");
    const objects = new PackedObjects(catalog);
    const toPack = locationsOf(catalog, listObjects("main", "^main~8"));
    const receiverHas = locationsOf(catalog, listObjects("main~8"));
    const whole = await collect(
      writePack(catalog, objects, toPack, { codec, takesOfsDelta: true }),
    );
    const thin = await collect(
      writePack(catalog, objects, toPack, { codec, takesOfsDelta: true, receiverHas }),
    );
    git(makeRepository(), ["index-pack", "--stdin"], { input: whole });
    git(repository, ["index-pack", "--fix-thin", "--stdin"], { input: thin });
    expect(thin.length).toBeLessThanOrEqual(whole.length);
  });

  // A file of a hundred megabytes must never be in memory whole.
  it("copies a large object in pieces, between others", async () => {
    const builder = new PackBuilder(codec);
    const random = makeRandom(7);
    const oids = [3000, 5_000_000, 3000].map((length) => builder.add("blob", random.bytes(length)));
    const stored = await storePack(builder.build(), reader);
    const source = new MemorySource(stored.pack);
    let longest = 0;
    const read = (start: number, end: number): Promise<Uint8Array> => {
      longest = Math.max(longest, end - start);
      return source.read(start, end);
    };
    const catalog = new PackCatalog([{ ...stored, source: { sizeBytes: source.sizeBytes, read } }]);
    const toPack = locationsOf(catalog, oids);
    const options = { codec, takesOfsDelta: true };
    const pieces: Uint8Array[] = [];
    for await (const piece of writePack(catalog, new PackedObjects(catalog), toPack, options)) {
      pieces.push(piece);
    }
    expect(longest).toBeLessThanOrEqual(1024 * 1024);
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(1_200_000);
    const bytes = Buffer.concat(pieces);
    git(makeRepository(), ["index-pack", "--strict", "--stdin"], { input: bytes });
    expect(bytes.equals(stored.pack)).toBe(true);
  });

  it("reads nothing before a piece is requested", async () => {
    const catalog = await openPushes("main");
    const source = catalog.pack(0).source as MemorySource;
    const toPack = locationsOf(catalog, listObjects("main"));
    const options = { codec, takesOfsDelta: true };
    const pieces = writePack(catalog, new PackedObjects(catalog), toPack, options);
    expect(source.reads).toBe(0);
    await pieces.next();
    expect(source.reads).toBe(1);
  });
});

describe("writePack of what was pushed in several packs", () => {
  const history = makeTextHistory(40);
  const { tips, directory } = history;
  const objects = readAllByGit(directory);
  const random = makeRandom(12);

  /** Random pushes of the history, of which neighbours may be merged. */
  async function openRandomly(): Promise<PackCatalog> {
    const pushed = tips.filter((tip, at) => at === tips.length - 1 || random.below(4) === 0);
    const packs = await receivePushes(directory, pushed);
    const first = random.below(packs.length);
    const count = Math.min(packs.length - first, random.below(4));
    if (count > 1) packs.splice(first, count, await merge(packs.slice(first, first + count)));
    return new PackCatalog(packs);
  }

  async function write(
    catalog: PackCatalog,
    oids: readonly string[],
    more: Partial<PackWriterOptions> = {},
  ): Promise<{ pack: Buffer; verbatim: number }> {
    const toPack = locationsOf(catalog, oids);
    const options = { codec, takesOfsDelta: true, ...more };
    const writer = writePack(catalog, new PackedObjects(catalog), toPack, options);
    const pieces: Uint8Array[] = [];
    for (;;) {
      const { value, done } = await writer.next();
      if (done) return { pack: Buffer.concat(pieces), verbatim: value.verbatim };
      pieces.push(value);
    }
  }

  const listed = (...revisions: string[]): string[] =>
    lines(git(directory, ["rev-list", "--objects", "--no-object-names", ...revisions]));

  it.each(Array.from({ length: 8 }, (_, round) => round))(
    "sends the objects that git would, whatever was pushed together and removed since (%i)",
    async (round) => {
      const catalog = await openRandomly();
      // A force push to an older commit leaves the objects of later ones unreachable.
      const tip = round % 3 === 0 ? random.pick(tips) : "main";
      const oids = listed(tip);
      const { pack, verbatim } = await write(catalog, oids);
      const received = makeRepository();
      git(received, ["index-pack", "--strict", "--stdin"], { input: pack });
      const contents = readAllByGit(received);
      expect([...contents.keys()].toSorted()).toEqual(oids.toSorted());
      for (const [oid, object] of contents) expect(object).toEqual(objects.get(oid));
      expect(verbatim).toBeGreaterThan(tip === "main" ? oids.length / 2 : -1);
    },
  );

  it("keeps the trailer of a large pack, and writes one that is known", async () => {
    const kept: Uint8Array[] = [];
    const big = new PackBuilder(codec);
    const noise = [3_000_000, 2_000_000].map((length) => big.add("blob", random.bytes(length)));
    const [first, second] = [big, new PackBuilder(codec)];
    const small = second.add("blob", random.bytes(100));
    const packs = await Promise.all([first, second].map((each) => receivePack([], each.build())));
    const catalog = new PackCatalog(packs);
    const oids = [...noise, small];
    const trailers = {
      find: async () => kept[0],
      keep: (trailer: Uint8Array) => void kept.push(trailer),
    };
    const { pack } = await write(catalog, oids, { trailers });
    expect(kept).toHaveLength(1);
    expect(pack.subarray(-20).equals(kept[0] ?? Buffer.alloc(0))).toBe(true);
    expect((await write(catalog, oids, { trailers })).pack.equals(pack)).toBe(true);
    expect(kept).toHaveLength(1);
  });

  it("copies all that was pushed byte for byte, without the bases that completed it", async () => {
    const catalog = new PackCatalog(await receivePushes(directory, [...tips.slice(0, 9), "main"]));
    const oids = listed("main");
    expect((await write(catalog, oids)).verbatim).toBe(oids.length);
    expect(await write(catalog, oids, { takesOfsDelta: false })).toMatchObject({ verbatim: 0 });
  });

  it("lays the pack out in frames of any size, with the same bytes", async () => {
    const catalog = await openRandomly();
    const oids = listed("main");
    const { pack } = await write(catalog, oids);
    for (const pieceBytes of [100, 5000]) {
      const toPack = locationsOf(catalog, oids);
      const spacing = { gapBytes: 5, pieceBytes, count: 3 };
      const options = { codec, takesOfsDelta: true, spacing };
      const found: Uint8Array[] = [];
      for await (const piece of writePack(catalog, new PackedObjects(catalog), toPack, options)) {
        for (let at = 5; at < piece.length; at += pieceBytes + 5) {
          found.push(piece.subarray(at, at + pieceBytes));
        }
      }
      expect(Buffer.concat(found).equals(pack)).toBe(true);
    }
  });
});

describe("writePack of a tip whose objects are deltas of unsent bases", () => {
  const history = makeTextHistory(60);
  const objects = readAllByGit(history.directory);
  const tip = history.tips.at(-1) ?? "";
  const oids = lines(
    git(history.directory, ["rev-list", "--objects", "--no-object-names", "--no-walk", tip]),
  );

  async function writeTip(catalog: PackCatalog): Promise<Buffer> {
    const toPack = locationsOf(catalog, oids);
    const options = { codec, takesOfsDelta: true };
    return collect(writePack(catalog, new PackedObjects(catalog), toPack, options));
  }

  function contentsOf(pack: Buffer): Map<string, StoredObject> {
    const directory = makeRepository();
    git(directory, ["index-pack", "--stdin"], { input: pack });
    return readAllByGit(directory);
  }

  it("resolves the objects in a few reads, for chains of any length", async () => {
    const merged = await merge(await receivePushes(history.directory, history.tips));
    const catalog = new PackCatalog([merged]);
    const source = merged.source as MemorySource;
    const contents = contentsOf(await writeTip(catalog));
    expect(source.reads).toBeLessThanOrEqual(4);
    expect([...contents.keys()].toSorted()).toEqual(oids.toSorted());
    for (const [oid, object] of contents) expect(object).toEqual(objects.get(oid));
  });

  // A base that was appended to a thin pack comes after its deltas.
  it("resolves the objects when bases come after their deltas", async () => {
    const tips = [history.tips[0] ?? "", tip];
    const catalog = new PackCatalog(await receivePushes(history.directory, tips));
    const contents = contentsOf(await writeTip(catalog));
    for (const [oid, object] of contents) expect(object).toEqual(objects.get(oid));
    expect(contents.size).toBe(oids.length);
  });
});

describe("PackedObjects", () => {
  it("reads every object as git does, whole and in pieces", async () => {
    const catalog = await openPushes("main~3", "main");
    const objects = new PackedObjects(catalog);
    const known = readAllByGit(repository);
    for (const oid of listObjects("main")) {
      const expected = known.get(oid) ?? { kind: "blob", content: Buffer.alloc(0) };
      const found = await objects.readObject(oid);
      expect(found?.kind).toBe(expected.kind);
      expect(Buffer.from(found?.content ?? [])).toEqual(expected.content);
      const location = catalog.find(oid) ?? { pack: 0, position: 0 };
      expect(await collect(objects.streamAt(location))).toEqual(expected.content);
    }
    expect(await objects.readObject("f".repeat(40))).toBeUndefined();
  });

  it("streams a blob larger than its buffers", async () => {
    const random = makeRandom(4);
    const content = Buffer.concat(
      Array.from({ length: 300 }, (_, at) =>
        Buffer.concat([random.bytes(3000), Buffer.alloc(5000, at)]),
      ),
    );
    const builder = new PackBuilder(codec);
    const oid = builder.add("blob", content);
    const stored = await storePack(builder.build(), reader);
    const catalog = new PackCatalog([{ ...stored, source: new MemorySource(stored.pack) }]);
    const location = catalog.find(oid) ?? { pack: 0, position: 0 };
    // A piece is valid until the next one is requested, so collecting must copy.
    const pieces: Buffer[] = [];
    for await (const piece of new PackedObjects(catalog).streamAt(location)) {
      pieces.push(Buffer.from(piece));
    }
    expect(Buffer.concat(pieces).equals(content)).toBe(true);
  });
});

describe("DeltaEncoder", () => {
  it("makes deltas that apply correctly, and short ones for similar contents", () => {
    const random = makeRandom(6);
    for (let round = 0; round < 60; round++) {
      const base = random.bytes(random.below(4000)).map((byte) => byte % random.pick([2, 8, 256]));
      const target = Buffer.concat([
        base.subarray(random.below(base.length + 1)),
        random.bytes(random.below(100)),
        base.subarray(0, random.below(base.length + 1)),
      ]);
      const delta = new DeltaEncoder(base).encode(target, 1e9) ?? new Uint8Array();
      const header = readDeltaHeader(delta);
      const result = new Uint8Array(target.length);
      if (header) applyDelta(base, delta, header, result);
      expect(Buffer.compare(result, target)).toBe(0);
      expect(delta.length).toBeLessThan(260 + target.length / 4 + 200);
    }
  });

  it("copies runs of exactly 64 KB and more", () => {
    const base = makeRandom(7).bytes(200_000);
    for (const length of [65_535, 65_536, 65_537, 131_072, 200_000]) {
      const target = base.slice(0, length);
      const delta = new DeltaEncoder(base).encode(target, 1e9) ?? new Uint8Array();
      const header = readDeltaHeader(delta);
      const result = new Uint8Array(length);
      if (header) applyDelta(base, delta, header, result);
      expect(Buffer.compare(result, target)).toBe(0);
      expect(delta.length).toBeLessThan(40);
    }
  });

  // A match is extended backwards over the bytes before it, which must not make it longer than one
  // copy instruction allows.
  it("copies runs of more than 64 KB that begin between two blocks of the base", () => {
    const base = makeRandom(7).bytes(200_000);
    for (const start of [1, 7, 15, 17]) {
      const target = Buffer.concat([Buffer.from("new"), base.subarray(start)]);
      const delta = new DeltaEncoder(base).encode(target, 1e9) ?? new Uint8Array();
      const header = readDeltaHeader(delta);
      const result = new Uint8Array(target.length);
      if (header) applyDelta(base, delta, header, result);
      expect(Buffer.compare(result, target)).toBe(0);
      expect(delta.length).toBeLessThan(50);
    }
  });

  it("returns no delta over the given size", () => {
    const random = makeRandom(8);
    expect(new DeltaEncoder(random.bytes(5000)).encode(random.bytes(5000), 2500)).toBeUndefined();
  });
});

describe("PackBuilder", () => {
  it("builds a pack that git accepts, with deltas where a base was given", () => {
    const builder = new PackBuilder(codec);
    const text = "a line of text\n".repeat(500);
    const first = builder.add("blob", Buffer.from(text));
    const second = builder.add("blob", Buffer.from(`${text}one more\n`), first);
    expect(builder.add("blob", Buffer.from(text))).toBe(first);
    const treeOid = builder.add(
      "tree",
      formatTree([
        { mode: 0o100644, name: encodeText("a"), oid: first },
        { mode: 0o100644, name: encodeText("b"), oid: second },
      ]),
    );
    const directory = makeRepository();
    git(directory, ["index-pack", "--strict", "--stdin"], { input: builder.build() });
    expect(git(directory, ["ls-tree", "--format=%(objectname)", treeOid])).toBe(
      `${first}\n${second}`,
    );
    const check = ["cat-file", "--batch-check=%(deltabase)"];
    expect(git(directory, check, { input: `${second}\n` })).toBe(first);
  });
});
