import { describe, expect, it } from "vitest";

import { BlockPool, resident } from "../../../src/git/catalog/block-pool.ts";
import { BlockIndex, ObjectBlocks } from "../../../src/git/catalog/object-blocks.ts";
import { BlockPack, type OpenPack, PackCatalog } from "../../../src/git/catalog/pack-catalog.ts";
import { PackedObjects } from "../../../src/git/catalog/packed-objects.ts";
import { Moves } from "../../../src/git/join/join-entries.ts";
import { writeJoinedIdx } from "../../../src/git/join/join-index.ts";
import { joinPacks } from "../../../src/git/join/join-packs.ts";
import { type JoinPart, JoinPlan } from "../../../src/git/join/join-plan.ts";
import { writeJoinedTables } from "../../../src/git/join/join-tables.ts";
import { readWholeSidecar } from "../../../src/git/join/whole-sidecar.ts";
import { IdxFile } from "../../../src/git/pack/idx-file.ts";
import { OFS_DELTA, readEntryHeader } from "../../../src/git/pack/entry-header.ts";
import { readBlockLayout } from "../../../src/git/sidecar/block-tables.ts";
import { blockFileOf } from "../support/block-packs.ts";
import { codec } from "../support/codec.ts";
import { describeSidecar } from "../support/describe-sidecar.ts";
import { git, makeFixture, makeRepository } from "../support/git.ts";
import { indexByGit } from "../support/packs.ts";
import { type KeptPack, makeRepositoryOf, merge, receivePushes } from "../support/pushes.ts";
import { MemorySource } from "../support/sources.ts";
import { sampleOf } from "../../support/sample.ts";
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
const text = makeTextHistory(120);
const textPushes = await receivePushes(text.directory, text.tips.slice(0, 90));
const textTip = text.tips[89] ?? "";
const NONE = new Uint8Array(0);
const textWrites = await receiveWrites(text);

let names = 0;

function openTables(file: Uint8Array): { index: BlockIndex; blocks: ObjectBlocks } {
  const layout = readBlockLayout(file, file.length);
  if (!layout) throw new Error("no block tables");
  const index = new BlockIndex(layout, file.subarray(layout.historyAt));
  const source = new MemorySource(file);
  return { index, blocks: new ObjectBlocks(index, source, new BlockPool(), `part-${names++}`) };
}

function partOf(pack: KeptPack): JoinPart {
  const file = blockFileOf(pack);
  return {
    blocks: openTables(file).blocks,
    tables: new MemorySource(file),
    idx: new MemorySource(pack.idxBytes),
    pack: new MemorySource(pack.pack),
    checksum: pack.idx.packChecksum,
  };
}

const collect = () => {
  const pieces: Uint8Array[] = [];
  const write = (piece: Uint8Array) => Promise.resolve(void pieces.push(piece));
  return { write, finish: () => Promise.resolve(), bytes: () => Buffer.concat(pieces) };
};

interface Joined extends KeptPack {
  readonly byBlock: OpenPack & { readonly blocks: ObjectBlocks };
  readonly tables: Uint8Array;
}

async function join(packs: readonly KeptPack[]): Promise<Joined> {
  const [pack, idx, tables] = [collect(), collect(), collect()];
  const joined = await joinPacks(packs.map(partOf), {
    codec,
    pack,
    idx,
    tables,
  });
  const [packBytes, idxBytes, file] = [pack.bytes(), idx.bytes(), tables.bytes()];
  expect(joined).toMatchObject({
    packBytes: packBytes.length,
    idxBytes: idxBytes.length,
    tablesBytes: file.length,
  });
  const { index, blocks } = openTables(file);
  const source = new MemorySource(packBytes);
  const sidecar = await readWholeSidecar(index, new MemorySource(file), joined.checksum);
  const opened = { idx: new IdxFile(idxBytes), sidecar, source };
  const byBlock = new BlockPack(blocks, source);
  return { ...opened, pack: packBytes, idxBytes, byBlock, tables: file };
}

const CASES = {
  "a history of all kinds of objects": { packs: fixturePushes, tip: "pages", directory: fixture },
  "thin packs of a long history": { packs: textPushes, tip: textTip, directory: text.directory },
  "packs of whole objects": {
    packs: textWrites.slice(0, 60),
    tip: "main~60",
    directory: text.directory,
  },
  "packs that were merged before": {
    packs: [
      await merge(textPushes.slice(0, 50)),
      await merge(textPushes.slice(50, 80)),
      ...textPushes.slice(80),
    ],
    tip: textTip,
    directory: text.directory,
  },
};

describe("joinPacks", { timeout: 60_000 }, () => {
  for (const [name, { packs, tip, directory }] of sampleOf(Object.entries(CASES), 2, "joins")) {
    describe(`of ${name}`, () => {
      it("is one pack that git accepts, with every object once and unchanged", async () => {
        const joined = await join(packs);
        const tipOid = git(directory, ["rev-parse", tip]);
        const all = makeRepositoryOf(packs, tipOid);
        const one = makeRepositoryOf([joined], tipOid);
        git(makeRepository(), ["index-pack", "--strict", "--stdin"], { input: joined.pack });
        expect(git(one, ["fsck", "--full", "--strict"])).not.toMatch(/error|missing|broken/);
        expect(readAllByGit(one)).toEqual(readAllByGit(all));
      });

      it("has the index that git would write", async () => {
        const joined = await join(packs);
        expect(Buffer.from(joined.idxBytes).equals(indexByGit(joined.pack).idx)).toBe(true);
      });

      it("has the history and the kinds that a merge gives", async () => {
        const [joined, merged] = [await join(packs), await merge(packs)];
        expect(describeSidecar(joined)).toEqual(describeSidecar(merged));
      });

      it("is read by block, each object with its base and those who introduce it", async () => {
        const joined = await join(packs);
        const { idx, sidecar, byBlock } = joined;
        const { blocks } = byBlock;
        const objects = new PackedObjects(new PackCatalog([byBlock]));
        const expected = readAllByGit(makeRepositoryOf(packs, git(directory, ["rev-parse", tip])));
        const introducers = introducersOf(joined);
        for (let position = 0; position < idx.count; position++) {
          const oid = idx.oid(position);
          const number = await resident(() => blocks.find(Buffer.from(oid, "hex"), 0));
          const row = await resident(() => ({
            oid: blocks.oid(number),
            kind: blocks.kind(number),
            start: blocks.range(number).start,
            base: blocks.base(number),
            ...blocks.introducer(number),
          }));
          expect(row).toMatchObject({
            oid,
            kind: sidecar.kinds[position],
            start: idx.offset(position),
          });
          const base = row.base < 0 ? undefined : await resident(() => blocks.oid(row.base));
          const baseRow = sidecar.bases[position] as number;
          expect(base).toBe(baseRow < 0 ? undefined : idx.oid(baseRow));
          const commits = introducers.get(oid) ?? [];
          expect(row.hasSeveral).toBe(commits.length > 1);
          const commit = row.commit === undefined ? undefined : blocks.index.commitOid(row.commit);
          expect(commit === undefined ? [] : [commit]).toEqual(
            commits.filter((each) => each === commit),
          );
          expect(commit === undefined).toBe(commits.length === 0);
          const object = await objects.readObject(oid);
          expect(object?.kind).toBe(expected.get(oid)?.kind);
          expect(Buffer.compare(object?.content ?? NONE, expected.get(oid)?.content ?? NONE)).toBe(
            0,
          );
        }
      });

      it("can be joined again", async () => {
        const half = Math.ceil(packs.length / 2);
        const first = await join(packs.slice(0, half));
        const again = await join([first, ...packs.slice(half)]);
        expect(describeSidecar(again)).toEqual(describeSidecar(await join(packs)));
      });
    });
  }

  // Otherwise the tests above would show nothing of bases at other distances.
  it("rewrites deltas whose bases are at other distances, or in older packs", async () => {
    const { packs } = CASES["packs that were merged before"];
    const joined = await join(packs);
    const distances = (pack: KeptPack): Map<string, number> =>
      new Map(
        Array.from({ length: pack.idx.count }, (_, position) => {
          const header = readEntryHeader(pack.pack, pack.idx.offset(position));
          const distance = header?.type === OFS_DELTA ? header.baseDistance : 0;
          return [pack.idx.oid(position), distance] as const;
        }),
      );
    // Of an object in several packs, the oldest is kept.
    const before = new Map<string, number>();
    for (const pack of packs.toReversed()) {
      for (const [oid, distance] of distances(pack)) before.set(oid, distance);
    }
    const moved = [...distances(joined)].filter(([oid, distance]) => before.get(oid) !== distance);
    expect(moved.length).toBeGreaterThan(10);
  });

  it("refuses a pack that is damaged", async () => {
    const parts = textPushes.slice(0, 3).map(partOf);
    const [first, second, third] = parts as [JoinPart, JoinPart, JoinPart];
    const bytes = Buffer.from(textPushes[1]?.pack ?? []);
    bytes[bytes.length - 40] = (bytes[bytes.length - 40] as number) ^ 1;
    const writing = { pack: collect(), idx: collect(), tables: collect() };
    const damaged = { ...second, pack: new MemorySource(bytes) };
    await expect(joinPacks([first, damaged, third], { codec, ...writing })).rejects.toMatchObject({
      code: "corrupt",
    });
  });

  it("has offsets above 4 GiB in all tables", async () => {
    const parts = textPushes.slice(0, 4).map(partOf);
    const plan = await JoinPlan.make(parts);
    const shift = 5 * 2 ** 30;
    const moves = parts.map((_, part) => {
      const each = new Moves();
      each.setShift(0, part === 0 ? 0 : part * shift);
      return each;
    });
    const [idx, tables] = [collect(), collect()];
    await writeJoinedIdx(plan, moves, "ab".repeat(20), codec, idx.write);
    await writeJoinedTables(plan, moves, tables.write);
    // The same once more, from tables that have such offsets already.
    const first: JoinPart = {
      ...(parts[0] as JoinPart),
      blocks: openTables(tables.bytes()).blocks,
      tables: new MemorySource(tables.bytes()),
      idx: new MemorySource(idx.bytes()),
    };
    const further = [first, partOf(textPushes[4] as KeptPack)];
    const again = await JoinPlan.make(further);
    const still = further.map(() => new Moves());
    still[1]?.setShift(0, 20 * 2 ** 30);
    const [idxAgain, tablesAgain] = [collect(), collect()];
    await writeJoinedIdx(again, still, "cd".repeat(20), codec, idxAgain.write);
    await writeJoinedTables(again, still, tablesAgain.write);

    const [opened, byBlock] = [
      new IdxFile(idxAgain.bytes()),
      openTables(tablesAgain.bytes()).blocks,
    ];
    const seen = new Set<number>();
    for (const [part, pack] of textPushes.slice(0, 5).entries()) {
      for (let position = 0; position < pack.idx.count; position++) {
        const oid = Buffer.from(pack.idx.oid(position), "hex");
        const isOlder = textPushes.slice(0, part).some((older) => older.idx.find(oid) >= 0);
        if (isOlder) continue;
        const offset = pack.idx.offset(position) + part * shift;
        seen.add(part);
        expect(opened.offset(opened.find(oid))).toBe(offset);
        expect(await resident(() => byBlock.range(byBlock.find(oid, 0)).start)).toBe(offset);
      }
    }
    expect([...seen]).toEqual([0, 1, 2, 3, 4]);
  });
});

/** The commits that introduce each object, by ids. */
function introducersOf(pack: KeptPack): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { oid, introduced } of describeSidecar(pack).commits) {
    for (const each of introduced) found.set(each, [...(found.get(each) ?? []), oid]);
  }
  return found;
}
