import { type Budget, finishInTurns } from "../../src/git/budget.ts";
import type { ByteText } from "../../src/git/byte-text.ts";
import { describe, expect, it } from "vitest";

import { measureTree } from "../../src/git/archive/measure-tree.ts";
import { formatTar } from "../../src/git/archive/tar.ts";
import { formatZip } from "../../src/git/archive/zip.ts";
import { PackedObjects } from "../../src/git/catalog/packed-objects.ts";
import { writePack } from "../../src/git/catalog/pack-writer.ts";
import { formatBinaryPatch } from "../../src/git/diff/binary-patch.ts";
import { diffLines } from "../../src/git/diff/line-diff.ts";
import { findRenames } from "../../src/git/diff/renames.ts";
import { diffTrees } from "../../src/git/diff/tree-diff.ts";
import { hunksInTurns } from "../../src/git/diff/unified.ts";
import { mergeLines } from "../../src/git/merge/merge-lines.ts";
import { CommitGraph } from "../../src/git/walk/commit-graph.ts";
import { planFetch } from "../../src/git/walk/fetch-plan.ts";
import { StepBudget } from "../../src/lib/step-budget.ts";
import { compressor } from "../../src/storage/compressor.ts";
import { collect, openEntries } from "./archive/open-entries.ts";
import { expectPauses } from "../support/slices.ts";
import { codec } from "./support/codec.ts";
import { git, makeRepository } from "./support/git.ts";
import { openHistory } from "./support/history.ts";
import { makeRandom } from "./support/random.ts";

// All requests of an isolate share one thread: the engine gives way to others after a bounded
// number of counted steps, also within one large unit.

const FILES = 4000;
const random = makeRandom(3);
const textOf = (lines: readonly string[]): Uint8Array => Buffer.from(lines.join(""));

/**
 * A file of 2.4 MB that hardly deflates, one that differs from it in each thirtieth line, and very
 * many small ones.
 */
const lines = Array.from(
  { length: 40_000 },
  () => `${random.below(2 ** 31)} ${random.below(2 ** 31)} text of a line\n`,
);
const edited = lines.map((line, at) => (at % 30 === 0 ? `changed ${at}\n` : line));
const [old, fresh] = [textOf(lines), textOf(edited)];

const repository = makeRepository();
const writeFile = (path: string, content: Uint8Array | string): string =>
  `M 100644 inline ${path}\ndata ${content.length}\n${Buffer.from(content).toString("latin1")}\n`;
const writeCommit = (at: number, files: string): string =>
  `commit refs/heads/main\ncommitter A U Thor <author@example.com> ${1_700_000_000 + at} +0000\ndata 1\n${at}\n${files}`;
const small = Array.from({ length: FILES }, (_, file) => writeFile(`d/${file}`, `${file}\n`));
const stream = [
  writeCommit(0, writeFile("large", old) + small.join("")),
  writeCommit(1, writeFile("large", fresh)),
];
git(repository, ["fast-import", "--quiet"], { input: stream.join("") });
const [tip = "", parent = ""] = git(repository, ["rev-list", "main"]).split("\n");

const budget: Budget = new StepBudget(Number.POSITIVE_INFINITY);
const stored = await openHistory(repository);
const objects = new PackedObjects(stored.catalog, () => {}, budget);
const history = { ...stored, objects };
const treeOf = (oid: string): string => git(repository, ["rev-parse", `${oid}^{tree}`]).trim();

describe("other requests run", () => {
  it("while a large text is compared, and its patch is written", async () => {
    const diff = await expectPauses(2, () => diffLines(old, fresh, budget));
    expect(diff.changes.length).toBeGreaterThan(600);
    const replaced = await diffLines(old, textOf(lines.map((_, at) => `${at}\n`)), budget);
    await expectPauses(1, () => finishInTurns(hunksInTurns(replaced), budget));
  });

  it("while large texts are merged", async () => {
    const other = textOf(lines.map((line, at) => (at % 31 === 9 ? `other ${at}\n` : line)));
    await expectPauses(8, () => mergeLines(old, fresh, other, "merge", budget));
  });

  it("while large binary files are encoded", async () => {
    await expectPauses(10, () => formatBinaryPatch(old, fresh, compressor, budget));
  });

  it("while renames are looked for", async () => {
    const [first, second] = [treeOf(parent), treeOf(tip)];
    const changes = await diffTrees(objects, first, second, { changesMax: 10 });
    const [large] = changes.filter(({ kind }) => kind === "modified").slice(-1);
    if (large?.kind !== "modified") throw new Error("the large file has not changed");
    const renamed = [
      { kind: "deleted", old: { ...large.old, path: "a" as ByteText } },
      { kind: "added", new: { ...large.new, path: "b" as ByteText } },
    ] satisfies Parameters<typeof findRenames>[1];
    const found = await expectPauses(3, () => findRenames(objects, renamed, budget));
    expect(found).toMatchObject([{ kind: "renamed" }]);
  });

  it("while a large blob is inflated", async () => {
    const oid = git(repository, ["rev-parse", `${parent}:large`]).trim();
    const uncached = new PackedObjects(stored.catalog, () => {}, budget);
    await expectPauses(1, () => uncached.readObject(oid));
  });

  it("while a large directory is measured and archived", async () => {
    const root = stored.catalog.find(treeOf(tip));
    if (!root) throw new Error("the tree is not stored");
    await expectPauses(1, () => measureTree(stored.catalog, objects, root));
    const { head, entries } = await openEntries(history, tip);
    await expectPauses(10, () => collect(formatZip(head, entries, compressor, budget)));
    const again = await openEntries(history, tip);
    await expectPauses(8, () => collect(formatTar(again.head, again.entries, budget)));
  });

  it("while objects are selected for a fetch, and written", async () => {
    const graph = new CommitGraph(stored.catalog);
    const needs = {
      wantOids: [parent],
      haveOids: [],
      clientShallowOids: [],
      cut: undefined,
      filter: undefined,
      tags: [],
      isThin: false,
    };
    const plan = await expectPauses(0, () => planFetch(graph, stored.catalog, objects, needs));
    const options = { codec, compressor, takesOfsDelta: false };
    const pack = writePack(stored.catalog, objects, plan.toPack, options);
    await expectPauses(1, () => collect(pack));
  });
});
