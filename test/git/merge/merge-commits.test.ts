import { describe, expect, it } from "vitest";
import { mergeCommits } from "../../../src/git/merge/merge-commits.ts";
import { parseTree } from "../../../src/git/object/tree.ts";
import type { StoredObject } from "../../../src/git/store.ts";
import { git, makeFixture } from "../support/git.ts";
import { openHistory, type StoredHistory } from "../support/history.ts";
import { makeRandom, type Random } from "../support/random.ts";
import {
  HistoryWriter,
  mergeByGit,
  mergeByUs,
  type MadeFile,
  type MadeTree,
  type Outcome,
} from "./histories.ts";
import { changeTree, makeTree, mixTrees } from "./random-trees.ts";

type Pair = readonly [ours: string, theirs: string];

/**
 * True for merges in which git's result is wrong: git loses a file that a directory rename moves
 * below a file, and before 2.51 a file that it moves to a path where the base had a file.
 */
function isBeyondGit(
  { repository }: StoredHistory,
  pair: Pair,
  ours: Awaited<ReturnType<typeof mergeByUs>>,
  theirs: Outcome,
): boolean {
  if (theirs.entries.some((entry) => entry.startsWith("000000"))) return true;
  const conflicts = ours.merge.kind === "conflicts" ? ours.merge.conflicts : [];
  const moved = conflicts.filter((conflict) => conflict.kind === "directory-rename");
  if (ours.treeOid !== theirs.treeOid && moved.length > 0) {
    const base = git(repository, ["merge-base", ...pair]);
    const files = git(repository, ["ls-tree", "-r", "--name-only", base]).split("\n");
    if (moved.some(({ path }) => files.includes(path))) return true;
  }
  return conflicts.some(({ kind, path }) => {
    if (kind !== "file-directory") return false;
    const directory = path.slice(0, path.indexOf("~") + 1).replace("~", "/");
    return moved.some((conflict) => conflict.path.startsWith(directory));
  });
}

/** Merges all pairs with git and with `mergeCommits`, compares the results and counts them. */
async function compareAll(history: StoredHistory, pairs: readonly Pair[]) {
  const outcomes = mergeByGit(history.repository, pairs);
  const count = { clean: 0, conflicted: 0, leftOut: 0 };
  for (const [at, pair] of pairs.entries()) {
    const theirs = outcomes[at];
    const ours = await mergeByUs(history, pair);
    if (!theirs || isBeyondGit(history, pair, ours, theirs)) {
      count.leftOut++;
      continue;
    }
    const { isClean, treeOid, entries } = ours;
    expect({ pair, isClean, treeOid, entries }).toEqual({ pair, ...theirs });
    if (isClean) count.clean++;
    else count.conflicted++;
  }
  return count;
}

/** Stores the commits of `count` cases made by `makeCase`, and returns the pairs to merge. */
async function makeCases(
  seed: number,
  count: number,
  makeCase: (random: Random, writer: HistoryWriter) => readonly [number, number],
): Promise<{ history: StoredHistory; pairs: Pair[] }> {
  const random = makeRandom(seed);
  const writer = new HistoryWriter();
  const marks = Array.from({ length: count }, () => makeCase(random, writer));
  const history = await writer.store();
  const pairs = marks.map(([a, b]) => [history.oidOf(a), history.oidOf(b)] as const);
  return { history, pairs };
}

interface CommittedTree {
  readonly tree: MadeTree;
  readonly mark: number;
}

/**
 * Two commits that both merge the same `width` commits, with `levels` such levels below each other.
 */
function crissCross(
  random: Random,
  writer: HistoryWriter,
  width: number,
  levels: number,
): readonly [number, number] {
  const base = makeTree(random);
  const root: CommittedTree = { tree: base, mark: writer.commit(base, []) };
  let commits: CommittedTree[] = [root];
  for (let level = 0; level <= levels; level++) {
    const from = commits;
    commits = Array.from({ length: level === levels ? 2 : width }, () => {
      const tree = changeTree(
        random,
        mixTrees(
          random,
          from.map((commit) => commit.tree),
        ),
      );
      return {
        tree,
        mark: writer.commit(
          tree,
          from.map((commit) => commit.mark),
        ),
      };
    });
  }
  return commits.map((commit) => commit.mark) as [number, number];
}

describe("mergeCommits agrees with git merge-tree", { timeout: 60_000 }, () => {
  it("on randomly changed trees", async () => {
    const { history, pairs } = await makeCases(11, 300, (random, writer) =>
      crissCross(random, writer, 1, 0),
    );
    const { clean, conflicted, leftOut } = await compareAll(history, pairs);
    expect(clean).toBeGreaterThan(100);
    expect(conflicted).toBeGreaterThan(80);
    expect(leftOut).toBeLessThan(5);
  });

  it.each([
    [2, 1],
    [2, 2],
    [3, 1],
  ])("on histories with %i merge bases, %i deep", async (width, levels) => {
    const { history, pairs } = await makeCases(12, 60, (random, writer) =>
      crissCross(random, writer, width, levels),
    );
    const { clean, conflicted, leftOut } = await compareAll(history, pairs);
    expect(clean).toBeGreaterThan(0);
    expect(conflicted).toBeGreaterThan(20);
    expect(leftOut).toBeLessThan(4);
  });

  it("on pairs of branches of a history with several roots", async () => {
    const history = await openHistory(makeFixture("random-history", "4", "60"));
    const branches = branchesOf(history).map(({ oid }) => oid);
    const pairs = branches.flatMap((a, at) => branches.slice(at + 1).map((b) => [a, b] as const));
    const { clean, conflicted } = await compareAll(history, pairs);
    expect(clean).toBeGreaterThan(0);
    expect(conflicted).toBeGreaterThan(0);
  });
});

/**
 * Files by path. Each word stands for a different text; "+…" after a word makes a slightly
 * different text.
 */
type Sketch = Readonly<Record<string, string>>;

function treeOf(sketch: Sketch): MadeTree {
  return new Map(
    Object.entries(sketch).map(([path, word]): [string, MadeFile] => {
      if (word.startsWith("->")) return [path, { mode: "120000", content: word.slice(2) }];
      const [name = "", more] = word.split("+");
      const lines = Array.from({ length: 12 }, (_, line) => `${name} ${line}\n`);
      if (name.startsWith("bin")) lines.unshift("\0\n");
      return [path, { mode: "100644", content: lines.join("") + (more ? `${more}\n` : "") }];
    }),
  );
}

/** Directory and file renames on one side, combined with changes on the other side. */
const DIRECTORY_RENAMES: readonly [name: string, base: Sketch, ours: Sketch, theirs: Sketch][] = [
  [
    "added to",
    { "z/b": "b", "z/c": "c" },
    { "y/b": "b", "y/c": "c" },
    { "z/b": "b", "z/c": "c", "z/d": "d" },
  ],
  [
    "moved into",
    { "z/b": "b", "z/c": "c", "x/d": "d" },
    { "y/b": "b", "y/c": "c", "x/d": "d" },
    { "z/b": "b", "z/c": "c", "z/d": "d" },
  ],
  [
    "split evenly",
    { "z/b": "b", "z/c": "c" },
    { "y/b": "b", "w/c": "c" },
    { "z/b": "b", "z/c": "c", "z/d": "d" },
  ],
  [
    "split by majority",
    { "z/a": "a", "z/b": "b", "z/c": "c" },
    { "y/a": "a", "y/b": "b", "w/c": "c" },
    { "z/a": "a", "z/b": "b", "z/c": "c", "z/d": "d" },
  ],
  [
    "renamed too",
    { "z/a": "a", "z/b": "b" },
    { "y/a": "a", "y/b": "b" },
    { "w/a": "a", "w/b": "b", "w/d": "d" },
  ],
  [
    "renamed in turn",
    { "dumb/a": "a", "other/b": "b" },
    { "smart/a": "a", "other/b": "b", "other/n": "n" },
    { "dumb/a": "a", "dumb/b": "b", "dumb/c": "c" },
  ],
  [
    "taken already",
    { "z/b": "b", "z/c": "c" },
    { "y/b": "b", "y/c": "c", "y/d": "e" },
    { "z/b": "b", "z/c": "c", "z/d": "d" },
  ],
  [
    "taken by theirs",
    { "z/b": "b", "z/c": "c" },
    { "y/b": "b", "y/c": "c" },
    { "z/b": "b", "z/c": "c", "z/d": "d", "y/d": "e" },
  ],
  [
    "joined, and both added to",
    { "v/a": "a", "w/b": "b" },
    { "y/a": "a", "y/b": "b" },
    { "v/a": "a", "w/b": "b", "v/d": "d", "w/d": "e" },
  ],
  [
    "to the root",
    { "z/b": "b", "z/c": "c" },
    { b: "b", c: "c" },
    { "z/b": "b", "z/c": "c", "z/d": "d" },
  ],
  [
    "with what is below",
    { "z/b": "b", "z/s/c": "c" },
    { "y/b": "b", "y/s/c": "c" },
    { "z/b": "b", "z/s/c": "c", "z/s/n": "n", "z/t/m": "m" },
  ],
  [
    "with edits",
    { "z/b": "b", "z/c": "c" },
    { "y/b": "b+1", "y/c": "c+1" },
    { "z/b": "b+2", "z/c": "c", "z/d": "d" },
  ],
  [
    "crosswise",
    { "a/f": "f", "b/g": "g" },
    { "c/f": "f", "b/g": "g", "b/h": "h" },
    { "a/f": "f", "a/i": "i", "c/g": "g" },
  ],
  [
    "against a removal",
    { "z/b": "b", "z/c": "c" },
    { "y/b": "b", "y/c": "c" },
    { "z/b": "b+1", "z/d": "d" },
  ],
  ["of a binary file both ways", { bin: "bin" }, { p: "bin+ours" }, { q: "bin+theirs" }],
  [
    "onto a file of the other side",
    { a: "a", b: "b" },
    { a: "a+1", b: "b", c: "c" },
    { c: "a+2", b: "b" },
  ],
  ["two onto one", { a: "a", b: "b" }, { c: "a+1", b: "b+2" }, { a: "a+3", c: "b+4" }],
  [
    "onto a directory",
    { a: "a", "d/x": "x" },
    { d: "a", "e/x": "x" },
    { a: "a+1", "d/x": "x", "d/y": "y" },
  ],
];

describe("mergeCommits follows renames as git merge-tree does", () => {
  it("on every row of the table, in both directions", async () => {
    const writer = new HistoryWriter();
    const marks = DIRECTORY_RENAMES.map(([, base, ours, theirs]) => {
      const root = writer.commit(treeOf(base), []);
      return [writer.commit(treeOf(ours), [root]), writer.commit(treeOf(theirs), [root])] as const;
    });
    const history = await writer.store();
    for (const [at, [ours, theirs]] of marks.entries()) {
      for (const pair of [
        [ours, theirs],
        [theirs, ours],
      ] as const) {
        const oids = pair.map((mark) => history.oidOf(mark)) as [string, string];
        const [expected] = mergeByGit(history.repository, [oids]);
        const { isClean, treeOid, entries } = await mergeByUs(history, oids);
        const name = DIRECTORY_RENAMES[at]?.[0];
        expect({ name, isClean, treeOid, entries }).toEqual({ name, ...expected });
      }
    }
  });

  // When merge bases are merged, a file that cannot be merged keeps its version of their merge
  // base.
  it("where merging the merge bases has conflicts itself", async () => {
    const base = { link: "->a", file: "file", bin: "bin", gone: "gone" };
    const left = { link: "->b", file: "file+1", bin: "bin+1", gone: "gone+1" };
    const right = { link: "->c", file: "file+2", bin: "bin+2" };
    const writer = new HistoryWriter();
    const root = writer.commit(treeOf(base), []);
    const sides = [left, right].map((tree) => writer.commit(treeOf(tree), [root]));
    const tips = [left, right].map((tree) => writer.commit(treeOf(tree), sides));
    const history = await writer.store();
    const pair = tips.map((mark) => history.oidOf(mark)) as [string, string];
    const [expected] = mergeByGit(history.repository, [pair]);
    const { isClean, treeOid, entries } = await mergeByUs(history, pair);
    expect({ isClean, treeOid, entries }).toEqual(expected);
    expect(entries.filter((entry) => entry.endsWith("\tlink"))).toHaveLength(3);
  });
});

function branchesOf({ repository }: StoredHistory): { name: string; oid: string }[] {
  const format = "--format=%(refname:short) %(objectname)";
  return git(repository, ["for-each-ref", format, "refs/heads"])
    .split("\n")
    .map((line) => {
      const [name = "", oid = ""] = line.split(" ");
      return { name, oid };
    });
}

const fixture = await openHistory(makeFixture("merges"));
const branches = new Map(branchesOf(fixture).map(({ name, oid }) => [name, oid]));
const tip = (name: string): string => branches.get(name) ?? "";

describe("mergeCommits on branches with one change each", () => {
  it("agrees with git merge-tree on every pair", { timeout: 60_000 }, async () => {
    const all = [...branches.values()];
    const pairs = all.flatMap((a) => all.filter((b) => b !== a).map((b) => [a, b] as const));
    const { clean, conflicted, leftOut } = await compareAll(fixture, pairs);
    expect(clean).toBeGreaterThan(300);
    expect(conflicted).toBeGreaterThan(80);
    expect(leftOut).toBe(0);
  });

  it.each([
    ["edit-top", "edit-top-too", ["content a.txt"]],
    ["edit-top", "remove", ["modify-delete a.txt"]],
    ["rename", "rename-elsewhere", ["rename-rename a.txt"]],
    ["rename", "remove", ["rename-delete moved.txt"]],
    ["add", "add-other", ["add-add new.txt"]],
    ["add", "executable-new", ["add-add new.txt"]],
    ["binary", "binary-too", ["binary data.bin"]],
    ["link", "run-edit", ["type run.sh"]],
    ["link", "link-too", ["content run.sh"]],
    ["submodule", "submodule-too", ["submodule mod"]],
    ["run-edit", "directory-for-file", ["modify-delete run.sh~ours", "file-directory run.sh~ours"]],
    ["move-directory", "add-to-directory", ["directory-rename moved/fresh.txt"]],
    ["rename-onto", "add", ["add-add new.txt"]],
  ])("reports why %s and %s conflict", async (ours, theirs, expected) => {
    const { merge } = await mergeByUs(fixture, [tip(ours), tip(theirs)], {
      labels: { ours: "ours", theirs: "theirs" },
    });
    const conflicts = merge.kind === "conflicts" ? merge.conflicts : [];
    expect(conflicts.map(({ kind, path }) => `${kind} ${path}`)).toEqual(expected);
  });

  it("shows a conflict between markers with the caller's labels", async () => {
    const { merge } = await mergeByUs(fixture, [tip("edit-top"), tip("edit-top-too")], {
      labels: { ours: "main", theirs: "feature/x" },
    });
    expect(merge.kind).toBe("conflicts");
    if (merge.kind !== "conflicts") return;
    const root = await merge.objects.readObject(merge.treeOid);
    const file = parseTree(root?.content ?? new Uint8Array()).find(({ name }) => name === "a.txt");
    const text = Buffer.from((await merge.objects.readObject(file?.oid ?? ""))?.content ?? []);
    expect(text.toString()).toMatch(
      /^line 1 of a\n<<<<<<< main\ntop\n=======\nanother top\n>>>>>>> feature\/x\nline 3 of a\n/,
    );
  });
});

describe("mergeCommits writes", () => {
  it("the new objects of a clean merge, children first, and no stored object", async () => {
    const pair = [tip("edit-top"), tip("edit-end")] as const;
    const { treeOid, written } = await mergeByUs(fixture, pair);
    expect([...written].map(([, { kind }]) => kind)).toEqual(["blob", "tree"]);
    expect([...written.keys()].at(-1)).toBe(treeOid);
    const stored = await openHistory(fixture.repository);
    for (const oid of written.keys()) expect(await stored.objects.readObject(oid)).toBeUndefined();
  });

  it("nothing for a merge that only takes one side", async () => {
    const { isClean, written } = await mergeByUs(fixture, [tip("base"), tip("deep")]);
    expect([isClean, written.size]).toEqual([true, 0]);
  });

  it("nothing for a merge with conflicts", async () => {
    const { isClean, written } = await mergeByUs(fixture, [tip("deep"), tip("deep-too")]);
    expect([isClean, written.size]).toEqual([false, 0]);
  });

  // The trees of merged merge bases are not part of the result.
  it("no objects of merged merge bases", async () => {
    const { history, pairs } = await makeCases(5, 40, (random, writer) =>
      crissCross(random, writer, 2, 1),
    );
    for (const pair of pairs) {
      const { isClean, treeOid, written } = await mergeByUs(history, pair);
      if (!isClean) continue;
      const reached = new Set<string>();
      const visit = (oid: string): void => {
        const object = written.get(oid);
        if (!object || reached.has(oid)) return;
        reached.add(oid);
        if (object.kind === "tree") for (const entry of parseTree(object.content)) visit(entry.oid);
      };
      visit(treeOid);
      expect(reached).toEqual(new Set(written.keys()));
    }
  });
});

describe("mergeCommits refuses", () => {
  const merge = (without: string, options = {}) => {
    const { graph, objects } = fixture;
    const reader = {
      readObject: (oid: string): Promise<StoredObject | undefined> =>
        oid === without ? Promise.resolve(undefined) : objects.readObject(oid),
    };
    const [ours, theirs] = [graph.find(tip("edit-top")), graph.find(tip("edit-end"))];
    return mergeCommits(graph, reader, ours, theirs, () => {}, options);
  };
  const oidOf = (name: string): string => git(fixture.repository, ["rev-parse", name]);

  it.each(["edit-top^{tree}", "edit-top:a.txt", "base:a.txt"])(
    "a merge in which %s is missing",
    async (name) => {
      await expect(merge(oidOf(name))).rejects.toMatchObject({ code: "missing" });
    },
  );

  it("a commit that is in no pack", async () => {
    const { graph, objects } = fixture;
    await expect(
      mergeCommits(graph, objects, graph.find("1".repeat(40)), 0, () => {}),
    ).rejects.toMatchObject({ code: "missing" });
  });

  it.each([{ pathsMax: 3 }, { newBytesMax: 100 }, { mergesMax: 0 }])(
    "more than %o",
    async (limit) => {
      await expect(merge("", limit)).rejects.toMatchObject({ code: "limit" });
    },
  );

  it("no large file, but treats it as binary", async () => {
    await expect(merge("", { contentBytesMax: 100 })).resolves.toMatchObject({
      kind: "conflicts",
      conflicts: [{ path: "a.txt", kind: "binary" }],
    });
  });
});
