import { createHash } from "node:crypto";
import { deflateSync, inflateSync } from "node:zlib";

import { describe, expect, it } from "vitest";

import { runInTurns, runNow } from "../../../src/git/budget.ts";
import { MODE_FILE } from "../../../src/git/object/tree.ts";
import { OID_BYTES } from "../../../src/git/oid.ts";
import { formatEntryHeader } from "../../../src/git/pack/entry-header.ts";
import { DEFAULT_PACK_LIMITS } from "../../../src/git/pack/limits.ts";
import { sortByOid } from "../../../src/git/pack/oid-order.ts";
import { formatPackHeader } from "../../../src/git/pack/pack-scanner.ts";
import { deflateInParts } from "../../../src/git/zlib/deflate-parts.ts";
import { codec } from "../support/codec.ts";
import { outsideOf } from "../support/outside.ts";
import { makeRandom } from "../support/random.ts";
import { makeNoise, makeRepeatingPack } from "../support/repeating-packs.ts";
import { storePack } from "../support/sidecars.ts";
import { makeReader } from "../support/sources.ts";
import { MeasuredTurns } from "../support/turns.ts";

/**
 * Steps between two pauses at most: a part of 5 ms, and what the largest indivisible work takes.
 */
const TURN_STEPS_MAX = 400_000;

const [TREE, BLOB] = [2, 3];

function makePack(...objects: readonly (readonly [kind: number, content: Uint8Array])[]): Buffer {
  const entries = objects.flatMap(([kind, content]) => [
    formatEntryHeader(kind, content.length),
    deflateSync(content),
  ]);
  const body = Buffer.concat([formatPackHeader(objects.length), ...entries]);
  return Buffer.concat([body, createHash("sha1").update(body).digest()]);
}

/** A tree whose entries are all the same blob. */
function makeTree(entries: number, blob: Buffer): Buffer {
  const parts = Array.from({ length: entries }, (_, at) => [
    Buffer.from(`${MODE_FILE.toString(8)} file-${String(at).padStart(6, "0")}\0`),
    blob,
  ]);
  return Buffer.concat(parts.flat());
}

const small = Buffer.from("a file\n");
const smallOid = createHash("sha1").update("blob 7\0").update(small).digest();
const none = outsideOf(makeReader(new Map()));

describe("receiving a pack gives way", () => {
  it.each([
    ["inside a file that compresses well", makePack([BLOB, new Uint8Array(6e6)]), 3e6, {}],
    ["inside a file that doesn't compress", makePack([BLOB, makeNoise(3e6)]), 1.5e6, {}],
    ["inside a large tree", makePack([TREE, makeTree(60_000, smallOid)], [BLOB, small]), 2e6, {}],
    [
      "between many small objects",
      makePack(...Array.from({ length: 20_000 }, (_, at) => [BLOB, Buffer.from(`${at}`)] as const)),
      1e6,
      {},
    ],
    ["inside deltas that make large files", makeRepeatingPack(10_000, 3, 400).pack, 2e6, {}],
    [
      "inside deltas that are made in scratch",
      makeRepeatingPack(10_000, 3, 400).pack,
      2e6,
      { deltaObjectBytesMax: 100_000 },
    ],
    ["between deltas that make small files", makeRepeatingPack(1000, 250).pack, 1e5, {}],
  ])("%s", async (_, pack, stepsMin, limits) => {
    const budget = new MeasuredTurns();
    await storePack(pack, none, () => undefined, {
      budget,
      limits: { ...DEFAULT_PACK_LIMITS, ...limits },
    });
    // What is not counted could not give way.
    expect(budget.total).toBeGreaterThan(stepsMin);
    expect(budget.longest).toBeLessThan(TURN_STEPS_MAX);
  });
});

it("compresses in parts what zlib inflates to the same", async () => {
  const random = makeRandom(3);
  for (const length of [0, 1, 131_072, 131_073, 700_000]) {
    const content = random.bytes(length);
    const budget = new MeasuredTurns();
    const stream = await runInTurns(deflateInParts(content, codec), budget);
    expect(Buffer.from(inflateSync(stream)).equals(Buffer.from(content))).toBe(true);
    expect(budget.longest).toBeLessThan(TURN_STEPS_MAX);
  }
  const zeros = new Uint8Array(1e6);
  expect(runNow(deflateInParts(zeros, codec)).length).toBeLessThan(5000);
});

describe("sorting ids gives way", () => {
  const count = 30_000;
  const random = makeRandom(9);
  const distinct = random.bytes(count * OID_BYTES);
  const alike = distinct.slice();
  for (let entry = 0; entry < count; entry++)
    alike.fill(7, entry * OID_BYTES, entry * OID_BYTES + 5);

  it.each([
    ["distinct", distinct],
    ["crafted to begin alike", alike],
    ["all the same", new Uint8Array(count * OID_BYTES)],
  ])("where they are %s", async (_, oids) => {
    const budget = new MeasuredTurns();
    const order = await runInTurns(sortByOid(oids, count), budget);
    const hex = Buffer.from(oids).toString("hex");
    const key = (entry: number) =>
      `${hex.slice(entry * 40, entry * 40 + 40)} ${String(entry).padStart(6, "0")}`;
    const keys = Array.from(order, key);
    const expected = Array.from({ length: count }, (_each, entry) => key(entry)).toSorted();
    expect(keys.join() === expected.join()).toBe(true);
    expect(budget.longest).toBeLessThan(TURN_STEPS_MAX);
  });
});
