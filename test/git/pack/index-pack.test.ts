import { deflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { runNow } from "../../../src/git/budget.ts";
import { formatEntryHeader } from "../../../src/git/pack/entry-header.ts";
import { formatIdx, IdxFile } from "../../../src/git/pack/idx-file.ts";
import { DEFAULT_PACK_LIMITS } from "../../../src/git/pack/limits.ts";
import { formatPackHeader, PackScanner } from "../../../src/git/pack/pack-scanner.ts";
import { PackBuilder } from "../../../src/git/pack/pack-builder.ts";
import { ThinPackCompletion } from "../../../src/git/pack/thin-pack.ts";
import { kindOf } from "../../../src/git/object/kind.ts";
import { formatOid, oidBytes } from "../../../src/git/oid.ts";
import { verifyIdx } from "../support/verify-idx.ts";
import { codec } from "../support/codec.ts";
import { git, gitBytes, makeFixture } from "../support/git.ts";
import { openKernel } from "../support/kernel.ts";
import { makeRandom } from "../support/random.ts";
import { outsideOf } from "../support/outside.ts";
import { index, indexByGit, makePack, readByGit, scan } from "../support/packs.ts";
import { MemoryScratch, MemorySource } from "../support/sources.ts";
import { readAllByGit } from "../support/text-history.ts";

const repository = makeFixture("history");
const packs: [string, Buffer][] = [
  ["with deltas by offset", makePack(repository, [], ["--all", "--delta-base-offset"])],
  ["with deltas by id", makePack(repository, [], ["--all"])],
  ["without deltas", makePack(repository, [], ["--all", "--depth=0"])],
  ["without objects", makePack(repository, [])],
];

/** Builds a pack of the given entries with a valid trailer. */
function pack(...entries: Uint8Array[]): Buffer {
  const body = Buffer.concat([formatPackHeader(entries.length), ...entries]);
  const hash = codec.createSha1();
  hash.update(body);
  return Buffer.concat([body, hash.digest()]);
}

const entry = (
  type: number,
  content: string,
  size = content.length,
  prefix: Uint8Array = new Uint8Array(),
) =>
  Buffer.concat([
    formatEntryHeader(type, size),
    prefix,
    deflateSync(Buffer.from(content, "latin1")),
  ]);

const delta = (...bytes: number[]) => String.fromCharCode(...bytes);
const ref = (oid: string) => entry(7, delta(5, 5, 0x90, 5), 4, oidBytes(oid));

const kernel = openKernel();

describe("indexing a pack", () => {
  it.each(packs)("%s produces git's index, byte for byte", async (_, bytes) => {
    const { table, checksum } = await index(bytes);
    const byKernel = await index(bytes, { kernel });
    expect(runNow(formatIdx(byKernel.table, checksum, codec))).toEqual(
      runNow(formatIdx(table, checksum, codec)),
    );
    expect(Buffer.from(runNow(formatIdx(table, checksum, codec)))).toEqual(indexByGit(bytes).idx);
  });

  it.each(packs)("%s produces the same table for any chunk size", (_, bytes) => {
    const whole = scan(bytes);
    for (const chunkBytes of [1, 2, 3, 7, 19, 20, 21, 100, 4096]) {
      const { table, checksum, sizeBytes } = scan(bytes, chunkBytes);
      expect([checksum, sizeBytes]).toEqual([whole.checksum, bytes.length]);
      const { count } = table;
      expect(table.crcs.slice(0, count)).toEqual(whole.table.crcs.slice(0, count));
      expect(table.oids.slice(0, count * 20)).toEqual(whole.table.oids.slice(0, count * 20));
    }
  });

  it("reports types, sizes, depths and bases as git verify-pack does", async () => {
    const [, bytes] = packs[0] ?? ["", Buffer.alloc(0)];
    const { table } = await index(bytes);
    const { directory, name } = indexByGit(bytes);
    const ours = Array.from({ length: table.count }, (_, at) => {
      const oid = formatOid(table.oids, at * 20);
      const stored = table.end(at) - table.offset(at);
      const base = table.bases[at] ?? -1;
      const chain = base < 0 ? "" : ` ${table.depths[at]} ${formatOid(table.oids, base * 20)}`;
      return [oid, kindOf(table.kind(at)), stored, table.offset(at), chain].join(" ").trimEnd();
    });
    const theirs = git(directory, ["verify-pack", "-v", `objects/pack/pack-${name}.idx`])
      .split("\n")
      .map((line) => /^([0-9a-f]{40}) (\w+) +\d+ (\d+) (\d+) ?(.*)$/.exec(line))
      .filter((match) => match !== null)
      .map(([, oid, kind, stored, offset, chain]) => {
        const text = chain ? `  ${chain}` : "";
        return `${oid} ${kind} ${stored} ${offset}${text}`.replace("  ", "  ").trimEnd();
      });
    expect(ours.toSorted()).toEqual(theirs.toSorted().map((line) => line.replace("  ", "  ")));
  });

  // Bases that exceed the budget are spilled to scratch; the result is the same.
  it("resolves deltas with any memory budget", async () => {
    let spilledBytes = 0;
    for (const [, bytes] of packs) {
      const scratch = new MemoryScratch();
      const roomy = await index(bytes);
      const tight = await index(bytes, { budgetBytes: 100, scratch });
      const { count } = roomy.table;
      expect(tight.table.oids.slice(0, count * 20)).toEqual(roomy.table.oids.slice(0, count * 20));
      expect(roomy.report.spilledBytes).toBe(0);
      spilledBytes += tight.report.spilledBytes;
    }
    expect(spilledBytes).toBeGreaterThan(0);
  });

  // Peak memory as counted by the code: waiting bases stay within the budget plus one object.
  it("holds no more than its budget when every base waits", async () => {
    const random = makeRandom(31);
    const builder = new PackBuilder(codec);
    // Forty files of 64 KB, then a second version of each, so that every base waits until the
    // second half.
    const first = Array.from({ length: 40 }, () => random.bytes(65_536));
    const oids = first.map((content) => builder.add("blob", content));
    for (const [at, content] of first.entries()) {
      builder.add("blob", Buffer.concat([content, random.bytes(100)]), oids[at]);
    }
    const bytes = builder.build();
    const budgetBytes = 512 * 1024;
    const { table, report, checksum } = await index(bytes, { budgetBytes });
    expect(report.peakBytes).toBeLessThanOrEqual(budgetBytes + 2 * 65_636);
    expect(report.spilledBytes).toBeGreaterThan(1_000_000);
    expect(report.sweeps).toBe(1);
    expect(Buffer.from(runNow(formatIdx(table, checksum, codec)))).toEqual(indexByGit(bytes).idx);
  });

  it("reads a small pack in a single read", async () => {
    const [, bytes] = packs[0] ?? ["", Buffer.alloc(0)];
    const source = new MemorySource(bytes);
    await index(bytes, { source });
    expect(source.reads).toBe(1);
  });

  it("passes the content of every object to a listener once", async () => {
    const [, bytes] = packs[0] ?? ["", Buffer.alloc(0)];
    const contents = new Map<number, string>();
    const take = (at: number, kind: number, content: Uint8Array): void => {
      expect(contents.has(at)).toBe(false);
      contents.set(at, `${kindOf(kind)} ${Buffer.from(content).toString("base64")}`);
    };
    const scanner = new PackScanner(codec, DEFAULT_PACK_LIMITS, take);
    runNow(scanner.push(bytes));
    const { table } = await index(bytes, { listen: take });
    const objects = readAllByGit(repository);
    for (let at = 0; at < table.count; at++) {
      const object = objects.get(formatOid(table.oids, at * 20));
      const content = Buffer.from(object?.content ?? []).toString("base64");
      expect(contents.get(at)).toBe(`${object?.kind} ${content}`);
    }
  });
});

describe("a thin pack", () => {
  it("is completed with the missing bases", async () => {
    const thin = makePack(
      repository,
      ["main", "--not", "main~3"],
      ["--thin", "--delta-base-offset"],
    );
    const bases = { readObject: (oid: string) => Promise.resolve(readByGit(repository, oid)) };
    const { table, report } = await index(thin, { bases: outsideOf(bases) });
    expect(report.externalOids.length).toBeGreaterThan(0);

    const completion = new ThinPackCompletion(
      new MemorySource(thin),
      table,
      report.externalOids,
      bases,
      codec,
    );
    const pieces: Uint8Array[] = [];
    for await (const piece of completion.bytes()) pieces.push(piece);
    const whole = Buffer.concat(pieces);
    expect(whole.length).toBe(completion.sizeBytes);
    // Git, and our code, index it without the repository that contains the bases.
    const idx = indexByGit(whole).idx;
    expect(Buffer.from(runNow(formatIdx(table, completion.checksum, codec)))).toEqual(idx);
    const again = await index(whole);
    expect(Buffer.from(runNow(formatIdx(again.table, again.checksum, codec)))).toEqual(idx);
    expect(again.report.sweeps).toBeLessThanOrEqual(2);
  });

  it("is refused as missing its bases", async () => {
    const thin = makePack(repository, ["main", "--not", "main~3"], ["--thin"]);
    await expect(index(thin)).rejects.toMatchObject({ code: "missing" });
  });
});

describe("the index file", () => {
  it("is parsed as it was formatted", async () => {
    const [, bytes] = packs[0] ?? ["", Buffer.alloc(0)];
    const { table, checksum } = await index(bytes);
    // Offsets of at least 100 are stored in the table of 64-bit numbers, as offsets beyond 2 GB
    // are.
    for (const largeOffset of [100, 2 ** 31]) {
      const idx = runNow(formatIdx(table, checksum, codec, largeOffset));
      verifyIdx(idx, codec);
      const file = new IdxFile(idx);
      expect([file.count, file.packChecksum]).toEqual([table.count, checksum]);
      for (let at = 0; at < table.count; at++) {
        const position = file.find(table.oids, at * 20);
        expect(file.offset(position)).toBe(table.offset(at));
        expect(file.crc(position)).toBe(table.crcs[at]);
        const found = file.findPrefix(file.oid(position).slice(0, 39));
        expect(found).toEqual({ start: position, end: position + 1 });
      }
      expect(file.find(oidBytes("f".repeat(40)))).toBe(-1);
      expect(file.findPrefix("")).toEqual({ start: 0, end: file.count });
    }
  });

  it("is refused when damaged", async () => {
    const [, bytes] = packs[0] ?? ["", Buffer.alloc(0)];
    const { table, checksum } = await index(bytes);
    const idx = runNow(formatIdx(table, checksum, codec));
    expect(() => new IdxFile(idx.subarray(0, 1000))).toThrow(
      expect.objectContaining({ code: "corrupt" }),
    );
    expect(() => new IdxFile(idx.subarray(4))).toThrow(
      expect.objectContaining({ code: "unsupported" }),
    );
    idx[2000] = (idx[2000] ?? 0) ^ 1;
    expect(() => verifyIdx(idx, codec)).toThrow(expect.objectContaining({ code: "corrupt" }));
  });
});

describe("a malformed pack", () => {
  const good = pack(entry(3, "hello"));
  const ofs = (content: string, distance: number) =>
    entry(6, content, content.length, Uint8Array.of(distance));
  const blob = entry(3, "hello");

  it.each([
    ["cut off", good.subarray(0, -1)],
    ["cut off in its header", good.subarray(0, 11)],
    ["followed by bytes", Buffer.concat([good, Buffer.from("x")])],
    ["without signature", Buffer.concat([Buffer.from("PACX"), good.subarray(4)])],
    [
      "changed in its trailer",
      Buffer.concat([good.subarray(0, -1), Buffer.from([(good.at(-1) ?? 0) ^ 1])]),
    ],
    ["with an entry of type 0", pack(entry(0, "hello"))],
    ["with an entry of type 5", pack(entry(5, "hello"))],
    ["with an object longer than announced", pack(entry(3, "hello", 4))],
    ["with an object shorter than announced", pack(entry(3, "hello", 6))],
    ["with a base before its start", pack(ofs(delta(5, 5, 0x90, 5), 100))],
    ["with a base inside an entry", pack(blob, ofs(delta(5, 5, 0x90, 5), blob.length - 1))],
    ["with a delta of itself", pack(blob, ofs(delta(5, 5, 0x90, 5), 0))],
    ["with fewer objects than announced", pack(entry(3, "a"), entry(3, "b")).fill(3, 11, 12)],
  ])("%s is refused in the first pass", (_, bytes) => {
    expect(() => scan(bytes)).toThrow(expect.objectContaining({ code: "corrupt" }));
  });

  it.each([
    ["a copy beyond its base", delta(5, 6, 0x91, 1, 6)],
    ["a copy beyond its result", delta(5, 4, 0x90, 5)],
    ["an insert beyond its result", delta(5, 1, 2, 65, 66)],
    ["an insert beyond its end", delta(5, 9, 9, 65)],
    ["a copy cut off", delta(5, 5, 0x91)],
    ["a reserved instruction", delta(5, 5, 0)],
    ["a result too short", delta(5, 6, 0x90, 5)],
    ["another base size", delta(4, 4, 0x90, 4)],
    ["sizes cut off", delta(0x85, 0x85)],
  ])("with %s in a delta is refused in the second pass", async (_, content) => {
    await expect(async () => index(pack(blob, ofs(content, blob.length)))).rejects.toMatchObject({
      code: "corrupt",
    });
  });

  it("with a duplicate object is refused by the index", async () => {
    const twice = pack(blob, blob);
    const { table, checksum } = await index(twice);
    expect(() => runNow(formatIdx(table, checksum, codec))).toThrow(
      expect.objectContaining({ code: "corrupt" }),
    );
  });

  it("with deltas of unknown bases is refused", async () => {
    await expect(index(pack(ref("1".repeat(40)), ref("2".repeat(40))))).rejects.toMatchObject({
      code: "missing",
    });
  });

  it.each([
    ["objects", pack(blob, entry(3, "b")), { objectsMax: 1 }],
    ["bytes in an object", good, { objectBytesMax: 4 }],
    ["bytes in a tree", pack(entry(2, "hello")), { structureBytesMax: 4 }],
    [
      "bytes in a delta's result",
      pack(blob, ofs(delta(5, 0xff, 0x7f), blob.length)),
      { objectBytesMax: 100 },
    ],
    ["bytes in total", good, { inflatedBytesMax: 4 }],
  ])("with more %s than allowed is refused", (_, bytes, limits) => {
    expect(() => scan(bytes, bytes.length, { ...DEFAULT_PACK_LIMITS, ...limits })).toThrow(
      expect.objectContaining({ code: "limit" }),
    );
  });

  // A header that announces four billion objects or a terabyte must not cost memory before it is
  // refused.
  it("with huge announced sizes is refused before memory is allocated", () => {
    const many = Buffer.from(good);
    many.writeUInt32BE(0xffffffff, 8);
    expect(() => scan(many)).toThrow(expect.objectContaining({ code: "limit" }));
    const huge = pack(entry(2, "hello", 2 ** 40));
    expect(() => scan(huge)).toThrow(expect.objectContaining({ code: "limit" }));
  });

  it("with a delta chain over the limit is refused", async () => {
    const entries = [blob];
    let text = "hello";
    for (let at = 0; at < 5; at++) {
      text += "x";
      const last = entries.at(-1) ?? blob;
      entries.push(
        ofs(delta(text.length - 1, text.length, 0x90, text.length - 1, 1, 120), last.length),
      );
    }
    const limits = { ...DEFAULT_PACK_LIMITS, deltaDepthMax: 4 };
    await expect(index(pack(...entries), { limits })).rejects.toMatchObject({ code: "limit" });
    expect((await index(pack(...entries))).table.depths[5]).toBe(5);
  });
});

it("streams a blob larger than its buffers", async () => {
  const content = Buffer.alloc(3_000_000, "some text that repeats, with a long period\n");
  content.write("and something else", 1_500_000);
  const oid = git(repository, ["hash-object", "-w", "--stdin"], { input: content });
  const bytes = gitBytes(repository, ["pack-objects", "--stdout", "--quiet"], {
    input: `${oid}\n`,
  });
  for (const chunkBytes of [bytes.length, 1000]) {
    expect(formatOid(scan(bytes, chunkBytes).table.oids)).toBe(oid);
  }
});
