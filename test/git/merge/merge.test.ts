import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { encodeText } from "../../../src/git/byte-text.ts";
import { mergedText, mergeLines } from "../../../src/git/merge/merge-lines.ts";
import { mergeTrees } from "../../../src/git/merge/merge-trees.ts";
import { editTree, type TreeEdit } from "../../../src/git/object/edit-tree.ts";
import { hashObject } from "../../../src/git/object/hash-object.ts";
import type { ObjectReader, StoredObject } from "../../../src/git/store.ts";
import { git, makeDirectory, makeFixture } from "../support/git.ts";
import { makeRandom, type Random } from "../support/random.ts";
import { gitReader } from "../support/sidecars.ts";

const directory = makeDirectory();

/** What git merge-file makes of three texts: undefined for a conflict. */
function mergeByGit(base: string, ours: string, theirs: string): string | undefined {
  for (const [name, text] of Object.entries({ base, ours, theirs })) {
    writeFileSync(join(directory, name), text);
  }
  const { status, stdout } = spawnSync("git", ["merge-file", "-p", "ours", "base", "theirs"], {
    cwd: directory,
  });
  return status === 0 ? stdout.toString() : undefined;
}

function mergeByUs(base: string, ours: string, theirs: string): string | undefined {
  const merge = mergeLines(Buffer.from(base), Buffer.from(ours), Buffer.from(theirs));
  return merge.conflicts > 0 ? undefined : Buffer.from(mergedText(merge)).toString();
}

function edit(random: Random, text: string): string {
  const lines = text.split("\n");
  for (let times = random.below(4); times >= 0; times--) {
    const at = random.below(lines.length);
    const fresh = Array.from({ length: random.below(3) }, () => `new ${random.below(4)}`);
    lines.splice(at, random.below(3), ...fresh);
  }
  return lines.join("\n");
}

describe("mergeLines", () => {
  it("merges and refuses what git merge-file does", () => {
    const random = makeRandom(21);
    for (let round = 0; round < 250; round++) {
      const base = Array.from(
        { length: random.below(30) },
        () => `line ${random.below(40)}\n`,
      ).join("");
      const ours = edit(random, base);
      const theirs = random.below(8) === 0 ? ours : edit(random, base);
      const told = JSON.stringify({ base, ours, theirs });
      expect([told, mergeByUs(base, ours, theirs)]).toEqual([told, mergeByGit(base, ours, theirs)]);
    }
  });
});

/** A reader over a repository and what was written since. */
function openWritable(repository: string) {
  const written = new Map<string, StoredObject>();
  const stored = gitReader(repository);
  const objects: ObjectReader = {
    readObject: async (oid) => written.get(oid) ?? stored.readObject(oid),
  };
  const write =
    (kind: "blob" | "tree") =>
    (content: Uint8Array): string => {
      const oid = hashObject(kind, content);
      written.set(oid, { kind, content });
      return oid;
    };
  return { objects, writeBlob: write("blob"), writeTree: write("tree") };
}

const options = { changesMax: 10_000, contentBytesMax: 1_000_000 };

// Hundreds of merges, each made by git too.
describe("mergeTrees", { timeout: 60_000 }, () => {
  it.each([
    ["history", []],
    ["random-history", ["4", "60"]],
    ["merges", []],
  ])("agrees with git merge-tree on pairs of branches of %s", async (fixture, args) => {
    const repository = makeFixture(fixture, ...args);
    const { objects, writeBlob, writeTree } = openWritable(repository);
    const listed = git(repository, ["for-each-ref", "--format=%(objectname)", "refs/heads"]);
    const branches = listed.split("\n");
    let clean = 0;
    for (const [index, ours] of branches.entries()) {
      for (const theirs of branches.slice(index + 1)) {
        const bases = git(repository, ["merge-base", "--all", ours, theirs], { mayFail: true });
        // With several bases git merges those first, which is not done here.
        if (!/^[0-9a-f]{40}$/.test(bases)) continue;
        const { status, stdout } = spawnSync("git", ["merge-tree", "--write-tree", ours, theirs], {
          cwd: repository,
        });
        const names = [bases, ours, theirs].map((oid) => `${oid}^{tree}`);
        const trees = git(repository, ["rev-parse", ...names]).split("\n");
        const [baseOid = "", ourOid = "", theirOid = ""] = trees;
        const merge = await mergeTrees(
          objects,
          baseOid,
          ourOid,
          theirOid,
          options,
          writeBlob,
          writeTree,
        );
        const result = merge.kind === "merged" ? merge.treeOid : "conflicts";
        const expected = status === 0 ? stdout.toString().trim() : "conflicts";
        expect(`${ours} ${theirs} ${result}`).toBe(`${ours} ${theirs} ${expected}`);
        if (merge.kind === "merged") clean++;
      }
    }
    expect(clean).toBeGreaterThan(0);
  });
});

describe("editTree", () => {
  const repository = makeFixture("history");
  const blob = { mode: 0o100644, oid: "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391" };
  const apply = async (edits: Record<string, TreeEdit>) => {
    const { objects, writeTree } = openWritable(repository);
    const root = git(repository, ["rev-parse", "main^{tree}"]);
    const map = new Map(Object.entries(edits).map(([path, value]) => [encodeText(path), value]));
    return editTree(objects, root, map, writeTree);
  };
  /** The same by git's index. */
  const applyByGit = (...lines: string[]): string => {
    const env = { GIT_INDEX_FILE: join(makeDirectory(), "index") };
    git(repository, ["hash-object", "-w", "--stdin"]);
    git(repository, ["read-tree", "main"], { env });
    git(repository, ["update-index", "--index-info"], {
      env,
      input: lines.map((line) => `${line}\n`).join(""),
    });
    return git(repository, ["write-tree"], { env });
  };

  it("adds, replaces and removes as git's index does", async () => {
    const treeOid = await apply({
      "a/b/c.txt": blob,
      "README.md": blob,
      "docs/deep/er/one.txt": undefined,
    });
    const none = `0 ${"0".repeat(40)}\tdocs/deep/er/one.txt`;
    expect(treeOid).toBe(
      applyByGit(`100644 ${blob.oid}\ta/b/c.txt`, `100644 ${blob.oid}\tREADME.md`, none),
    );
  });

  it("turns a file into a directory if the file goes", async () => {
    const treeOid = await apply({ "run.sh": undefined, "run.sh/x": blob });
    expect(treeOid).toBe(applyByGit(`0 ${"0".repeat(40)}\trun.sh`, `100644 ${blob.oid}\trun.sh/x`));
  });

  it.each(["run.sh/x", "a//b", "/a", "a/"])("refuses %j", async (path) => {
    await expect(apply({ [path]: blob })).rejects.toMatchObject({ code: "corrupt" });
  });
});
