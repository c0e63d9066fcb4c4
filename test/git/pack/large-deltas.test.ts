import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import { runNow } from "../../../src/git/budget.ts";
import { resolveDeltas } from "../../../src/git/pack/delta-resolver.ts";
import { DEFAULT_PACK_LIMITS } from "../../../src/git/pack/limits.ts";
import { formatIdx } from "../../../src/git/pack/idx-file.ts";
import { codec } from "../support/codec.ts";
import { git, makeDirectory } from "../support/git.ts";
import { outsideOf } from "../support/outside.ts";
import { index, indexByGit, makePack, scan } from "../support/packs.ts";
import { MemoryScratch, MemorySource } from "../support/sources.ts";

/** Limits that make every version of the test file large. */
const limits = { ...DEFAULT_PACK_LIMITS, deltaObjectBytesMax: 100_000, deltaBytesMax: 1000 };

/** Memory for resolving in scratch: a file, blocks of bases, and the buffers of an inflater. */
const HELD_BYTES_MAX = 12 * 2 ** 20;

/**
 * Returns `lines` lines of text; every seventh line below `changed` differs from the base version.
 */
function makeText(lines: number, changed: number): string {
  const parts: string[] = [];
  for (let at = 0; at < lines; at++) {
    const mark = at < changed && at % 7 === 0 ? ` ${(at * 31) % 97}` : "";
    parts.push(`${(at * 7919) % 100_003} ${at}${mark} of the text\n`);
  }
  return parts.join("");
}

/** Makes a repository whose file of 3 MB is changed, has its halves swapped, and shrinks. */
function makeRepository(): string {
  const directory = makeDirectory();
  git(directory, ["init", "--quiet", "--initial-branch=main"]);
  const text = makeText(100_000, 0);
  const half = text.length / 2;
  for (const version of [
    text,
    makeText(100_000, 30_000),
    text.slice(half) + text.slice(0, half),
    `${text}and more\n`,
    text.slice(0, 50_000),
    text.slice(0, 51_000),
  ]) {
    writeFileSync(join(directory, "file"), version);
    git(directory, ["add", "file"]);
    git(directory, ["commit", "--quiet", "-m", "a change"]);
  }
  return directory;
}

const repository = makeRepository();
const pack = makePack(repository, ["main"], ["--delta-base-offset"]);

it("resolves deltas larger than memory as git does, in bounded memory", async () => {
  const scratch = new MemoryScratch();
  const { table, checksum, report } = await index(pack, { limits, scratch });
  expect(table.largeDeltas.size).toBeGreaterThan(2);
  const { idx } = indexByGit(pack);
  expect(Buffer.from(runNow(formatIdx(table, checksum, codec))).equals(idx)).toBe(true);
  expect(report.spilledBytes).toBeGreaterThan(3_000_000);
  expect(report.peakBytes).toBeLessThan(HELD_BYTES_MAX);
});

it("resolves the same objects as in memory, with bases by id too", async () => {
  const named = makePack(repository, ["main"]);
  const expected = await index(named);
  const { table } = await index(named, { limits });
  const { count } = table;
  expect(table.oids.slice(0, count * 20)).toEqual(expected.table.oids.slice(0, count * 20));
  expect(table.sizes.slice(0, count)).toEqual(expected.table.sizes.slice(0, count));
});

it("refuses a large delta that does not fit its base", async () => {
  const { table } = scan(pack, pack.length, limits);
  const [first] = table.largeDeltas;
  // The scan accepts the announced base size; the mismatch is found when the delta is applied.
  const entry = first as number;
  const other = [...table.largeDeltas].find((each) => table.bases[each] !== table.bases[entry]);
  table.bases[entry] = table.bases[other as number] as number;
  const resolved = resolveDeltas(table, {
    source: new MemorySource(pack),
    codec,
    limits,
    scratch: new MemoryScratch(),
    budgetBytes: 2 ** 20,
    bases: outsideOf({ readObject: () => Promise.resolve(undefined) }),
    listen: () => {},
  });
  await expect(resolved).rejects.toMatchObject({ code: "corrupt" });
});
