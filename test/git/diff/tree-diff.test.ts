import { describe, expect, it } from "vitest";
import { UNLIMITED } from "../../../src/git/budget.ts";
import { findChangedPath } from "../../../src/git/diff/find-changed-path.ts";
import { diffLines, isBinary } from "../../../src/git/diff/line-diff.ts";
import { countLines } from "../../../src/git/diff/line-stat.ts";
import { formatPatch } from "../../../src/git/diff/patch.ts";
import { findCopies, findRenames } from "../../../src/git/diff/renames.ts";
import {
  diffTrees,
  type PathChange,
  type PathEntry,
  splitTypeChange,
} from "../../../src/git/diff/tree-diff.ts";
import type { ObjectReader } from "../../../src/git/store.ts";
import { HistoryWriter } from "../merge/histories.ts";
import { changeTree, makeTree } from "../merge/random-trees.ts";
import { makeRandom } from "../support/random.ts";
import { openHistory } from "../support/history.ts";
import { EMPTY_TREE_OID } from "../../../src/git/oid.ts";
import { isSubmoduleMode } from "../../../src/git/object/tree.ts";
import { encodeText } from "../../../src/git/byte-text.ts";
import { git, gitBytes, makeFixture } from "../support/git.ts";
import { gitReader } from "../support/sidecars.ts";

const options = { changesMax: 1000 };
const repositories = [makeFixture("history"), makeFixture("renames")];

/** The old and new content of a change; a missing side is empty. */
async function readContents(objects: ObjectReader, change: PathChange) {
  const read = async (entry: PathEntry | undefined): Promise<Uint8Array> => {
    if (!entry) return Buffer.alloc(0);
    if (isSubmoduleMode(entry.mode)) return Buffer.from(`Subproject commit ${entry.oid}\n`);
    return (await objects.readObject(entry.oid))?.content ?? Buffer.alloc(0);
  };
  const old = await read(change.kind === "added" ? undefined : change.old);
  const fresh = await read(change.kind === "deleted" ? undefined : change.new);
  return { old, fresh, hasBinary: isBinary(old) || isBinary(fresh) };
}

async function patchOf(objects: ObjectReader, change: PathChange): Promise<string> {
  const { old, fresh, hasBinary } = await readContents(objects, change);
  return formatPatch(
    change,
    hasBinary ? { kind: "binary" } : { kind: "text", diff: await diffLines(old, fresh) },
  );
}

/** The numbers of `git diff --numstat`, without the paths. */
async function statOf(objects: ObjectReader, change: PathChange): Promise<string> {
  const { old, fresh, hasBinary } = await readContents(objects, change);
  if (hasBinary) return "-\t-\n";
  const { added, removed } = countLines(await diffLines(old, fresh));
  return `${added}\t${removed}\n`;
}

/** The trees of every commit and its first parent, where they differ. */
function listTreePairs(repository: string): (readonly [old: string, fresh: string])[] {
  const rows = git(repository, ["log", "--all", "--format=%H %T %P"])
    .split("\n")
    .map((line) => line.split(" "));
  const trees = new Map(rows.map(([commit = "", tree = ""]) => [commit, tree]));
  return rows.flatMap(([, tree = "", parent]) => {
    const old = trees.get(parent ?? "");
    return old === undefined || old === tree ? [] : [[old, tree] as const];
  });
}

describe("the search for a changed path", () => {
  /** All paths that it visits, each once: the search ends at the first that is found. */
  async function visited(objects: ObjectReader, old: string, fresh: string): Promise<string[]> {
    const paths = new Set<string>();
    const note = (path: string) => {
      paths.add(path);
      return false;
    };
    expect(await findChangedPath(objects, old, fresh, note, UNLIMITED)).toBeUndefined();
    return [...paths].toSorted();
  }

  it("visits what git reports as changed, renames as two paths", async () => {
    let count = 0;
    for (const repository of repositories) {
      const { objects } = await openHistory(repository);
      for (const [old, fresh] of listTreePairs(repository)) {
        const args = ["diff-tree", "-r", "-z", "--no-renames", "--name-only", old, fresh];
        const theirs = gitBytes(repository, args).toString("latin1").split("\0").slice(0, -1);
        expect(await visited(objects, old, fresh)).toEqual(theirs.toSorted());
        count += theirs.length;
      }
    }
    expect(count).toBeGreaterThan(50);
  });

  it("ends at the first find, and at the end of its budget", async () => {
    const [repository = ""] = repositories;
    const { objects } = await openHistory(repository);
    const [[old, fresh] = ["", ""]] = listTreePairs(repository);
    const [first] = await visited(objects, old, fresh);
    const isFirst = (path: string): boolean => path === first;
    expect(await findChangedPath(objects, old, fresh, isFirst, UNLIMITED)).toBe(first);
    const budget = { ...UNLIMITED, isExhausted: true };
    await expect(findChangedPath(objects, old, fresh, isFirst, budget)).rejects.toMatchObject({
      code: "limit",
    });
  });
});

describe("a tree diff", () => {
  it.each([
    ["-M", findRenames],
    ["-C", findCopies],
  ] as const)("produces git's patches and counts for a history, with %s", async (option, find) => {
    const count = { renamed: 0, copied: 0 };
    for (const repository of repositories) {
      const { objects } = await openHistory(repository);
      const pairs = listTreePairs(repository);
      const input = pairs.map((pair) => `${pair.join(" ")}\n`).join("");
      const diffByGit = (format: string): string =>
        gitBytes(repository, ["diff-tree", "--stdin", "-r", option, "--full-index", format], {
          input,
        }).toString("latin1");
      let patches = "";
      let counts = "";
      for (const [old, fresh] of pairs) {
        const changes = await find(objects, await diffTrees(objects, old, fresh, options));
        patches += `${old} ${fresh}\n`;
        counts += `${old} ${fresh}\n`;
        for (const change of changes) {
          if (change.kind === "renamed" || change.kind === "copied") count[change.kind]++;
          for (const part of splitTypeChange(change)) patches += await patchOf(objects, part);
          counts += await statOf(objects, change);
        }
      }
      expect(patches).toBe(diffByGit("-p"));
      expect(counts).toBe(diffByGit("--numstat").replace(/^(\S+\t\S+)\t.*$/gm, "$1"));
    }
    expect(count.renamed).toBeGreaterThan(5);
    expect(count.copied > 0).toBe(option === "-C");
  });

  it.each([
    ["-M", findRenames],
    ["-C", findCopies],
  ] as const)(
    "pairs files as git does in randomly changed trees, with %s",
    async (option, find) => {
      const random = makeRandom(31);
      const writer = new HistoryWriter();
      for (let round = 0; round < 150; round++) {
        const tree = makeTree(random);
        const root = writer.commit(tree, []);
        writer.commit(changeTree(random, changeTree(random, tree)), [root]);
      }
      const { repository, objects } = await writer.store();
      const pairs = listTreePairs(repository);
      const args = ["diff-tree", "--stdin", "-r", option, "--raw", "--no-abbrev"];
      const input = pairs.map((pair) => `${pair.join(" ")}\n`).join("");
      const theirs = git(repository, args, { input })
        .split("\n")
        .filter((line) => /\t.*\t/.test(line));
      const ours: string[] = [];
      for (const [old, fresh] of pairs) {
        for (const change of await find(objects, await diffTrees(objects, old, fresh, options))) {
          if (change.kind !== "renamed" && change.kind !== "copied") continue;
          const score = String(change.similarityPercent).padStart(3, "0");
          const letter = change.kind === "renamed" ? "R" : "C";
          ours.push(`${letter}${score}\t${change.old.path}\t${change.new.path}`);
        }
      }
      expect(ours.length).toBeGreaterThan(100);
      expect(ours).toEqual(theirs.map((line) => line.slice(line.search(/[RC]\d+\t/))));
    },
  );

  it("reports every file as added when there is no old tree", async () => {
    const [repository = ""] = repositories;
    const objects = gitReader(repository);
    const treeOid = git(repository, ["rev-parse", "main^{tree}"]);
    const changes = await diffTrees(objects, undefined, treeOid, { changesMax: 1000 });
    const paths = changes.map((change) => (change.kind === "added" ? change.new.path : ""));
    expect(paths.join("\n")).toBe(
      git(repository, ["-c", "core.quotePath=false", "ls-tree", "-r", "--name-only", "main"]),
    );
    // Where nothing is empty, the empty tree is not stored.
    expect(await diffTrees(objects, EMPTY_TREE_OID, treeOid, { changesMax: 1000 })).toEqual(
      changes,
    );
  });

  it("can be restricted to a path", async () => {
    const [repository = ""] = repositories;
    const objects = gitReader(repository);
    const treeOid = git(repository, ["rev-parse", "main^{tree}"]);
    const path = encodeText("docs/deep");
    const changes = await diffTrees(objects, undefined, treeOid, { changesMax: 1000, path });
    expect(changes).toMatchObject([{ kind: "added", new: { path: "docs/deep/er/one.txt" } }]);
  });

  it("is refused when it has more changes than allowed", async () => {
    const [repository = ""] = repositories;
    const treeOid = git(repository, ["rev-parse", "main^{tree}"]);
    await expect(
      diffTrees(gitReader(repository), undefined, treeOid, { changesMax: 3 }),
    ).rejects.toMatchObject({ code: "limit" });
  });
});
