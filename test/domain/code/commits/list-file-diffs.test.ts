import { describe, expect, it } from "vitest";

import {
  type FileDiffQuery,
  listFileDiffs,
} from "../../../../src/domain/code/commits/list-file-diffs.ts";
import { pairLines, type SideLine } from "../../../../src/domain/code/commits/pair-lines.ts";
import { UNLIMITED } from "../../../../src/git/budget.ts";
import { MODE_SYMLINK } from "../../../../src/git/object/tree.ts";
import { makeFiles, type TestFile } from "../../../support/files.ts";
import { git } from "../../../support/git.ts";
import { make } from "../../../support/make.ts";
import { storeRefs } from "../../../support/push.ts";

const ALL: FileDiffQuery = {
  whitespace: "show-all",
  from: undefined,
  only: undefined,
  expanded: [],
};

/** How two sets of files differ. */
async function list(
  old: Record<string, TestFile>,
  fresh: Record<string, TestFile>,
  query: Partial<FileDiffQuery> = {},
) {
  const repo = await make.repo(await make.user());
  const before = makeFiles(old);
  await storeRefs(repo, [{ ref: "refs/heads/old", oid: before.oid }], before.pack);
  const after = makeFiles(fresh, { before });
  await storeRefs(repo, [{ ref: "refs/heads/main", oid: after.oid }], after.pack);
  const stored = git.repository(repo);
  const repository = await stored.open(await stored.snapshot());
  return listFileDiffs(repository, before.treeOid, after.treeOid, { ...ALL, ...query });
}

const numbered = (count: number) => Array.from({ length: count }, (_, at) => `${at + 1}\n`);

describe("the files that differ", () => {
  it("are listed with their lines, as many as fit a page, and the next page begins at a path", async () => {
    const name = (at: number) => `dir/${String(at).padStart(2, "0")}`;
    const files = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [name(at), `${at}\n`]));
    const first = await list({}, files);
    expect(first).toMatchObject({ start: 0 });
    expect(first?.changes).toHaveLength(60);
    expect(first?.items).toHaveLength(50);
    const second = await list({}, files, { from: name(50) });
    expect(second).toMatchObject({ start: 50 });
    expect(second?.items.map(({ path }) => path)).toEqual(
      Array.from({ length: 10 }, (_, at) => name(50 + at)),
    );
    expect((await list({}, files, { from: "dir/60" }))?.items).toEqual([]);
  });

  it("are fewer where they have many lines, of which the first are listed", async () => {
    const text = numbered(6000).join("");
    const files = Object.fromEntries(Array.from("abcde", (name) => [name, text]));
    const some = await list({}, files);
    expect(some?.items.map(({ path }) => path)).toEqual(["a", "b", "c"]);
    expect(some?.items[0]).toMatchObject({ isCut: true, stat: { added: 6000, removed: 0 } });
    expect(some?.items[0]?.hunks[0]?.lines).toHaveLength(1000);
    const one = await list({}, files, { only: "d" });
    expect(one?.items).toHaveLength(1);
    expect(one?.items[0]?.hunks[0]?.lines).toHaveLength(5000);
  });

  it("have more lines around their changes where that is asked for, of one file", async () => {
    const old = numbered(50);
    const fresh = old.with(24, "x\n").join("");
    const files = [
      { a: old.join(""), b: old.join("") },
      { a: fresh, b: fresh },
    ] as const;
    const one = await list(...files, { only: "b", expanded: [{ first: 10, last: 21 }] });
    expect(one?.items).toMatchObject([{ path: "b", newLineCount: 50 }]);
    expect(one?.items[0]?.hunks).toMatchObject([{ leftStart: 10, rightStart: 10, rightCount: 19 }]);
    const all = await list(...files, { expanded: [{ first: 10, last: 21 }] });
    expect(all?.items.map(({ hunks }) => hunks[0]?.rightStart)).toEqual([22, 22]);
  });

  it("are two where the type of a path changed, and both are found by the path", async () => {
    const link = { mode: MODE_SYMLINK, content: "there" };
    const found = await list({ a: "text\n" }, { a: link }, { only: "a" });
    expect(found?.items.map(({ kind }) => kind)).toEqual(["deleted", "added"]);
  });

  it("differ in nothing but white space that does not count", async () => {
    const found = await list({ a: "a b\n" }, { a: "a   b\n" }, { whitespace: "ignore-change" });
    expect(found?.items).toMatchObject([{ hunks: [], stat: { added: 0, removed: 0 } }]);
  });

  it("are not compared where they are no text", async () => {
    const bytes = (last: number) => new Uint8Array([0, 1, last]);
    const found = await list({ a: bytes(1) }, { a: bytes(2) });
    expect(found?.items).toMatchObject([{ stat: undefined, hunks: [], isCut: false }]);
  });
});

describe("lines side by side", () => {
  const textOf = (line: SideLine | undefined): string =>
    line
      ? `${line.number} ${line.runs.map((run) => (run.isChanged ? `[${run.text}]` : run.text)).join("")}`
      : "";

  it("stand beside the lines that replace them, with the words that differ", async () => {
    const old = "same\nlet a = 1;\nlet b = 2;\ngone\nend\n";
    const found = await list({ a: old }, { a: "same\nlet a = 3;\nlet c = 2;\nend\n" });
    const [hunk] = found?.items[0]?.hunks ?? [];
    const rows = hunk ? await pairLines(hunk, UNLIMITED) : [];
    expect(rows.map(({ left, right }) => [textOf(left), textOf(right)])).toEqual([
      ["1 same", "1 same"],
      ["2 let a = [1];", "2 let a = [3];"],
      ["3 let [b] = 2;", "3 let [c] = 2;"],
      ["4 gone", ""],
      ["5 end", "4 end"],
    ]);
  });

  it("are cut where they are long", async () => {
    const found = await list({}, { a: "x".repeat(6000) });
    const [hunk] = found?.items[0]?.hunks ?? [];
    const [row] = hunk ? await pairLines(hunk, UNLIMITED) : [];
    expect(row?.right).toMatchObject({ isCut: true, isTerminated: false });
    expect(row?.right?.runs[0]?.text).toHaveLength(5000);
  });
});
