import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { encodeText } from "../../../src/git/byte-text.ts";
import { editTree, type TreeEdit } from "../../../src/git/object/edit-tree.ts";
import { hashObject } from "../../../src/git/object/hash-object.ts";
import type { ObjectReader, StoredObject } from "../../../src/git/store.ts";
import { git, makeDirectory, makeFixture } from "../support/git.ts";
import { gitReader } from "../support/sidecars.ts";

/** A reader over a repository and what was written since. */
function openWritable(repository: string) {
  const written = new Map<string, StoredObject>();
  const stored = gitReader(repository);
  const objects: ObjectReader = {
    readObject: async (oid) => written.get(oid) ?? stored.readObject(oid),
  };
  const writeTree = (content: Uint8Array): string => {
    const oid = hashObject("tree", content);
    written.set(oid, { kind: "tree", content });
    return oid;
  };
  return { objects, writeTree };
}

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
