import { describe, expect, it } from "vitest";
import { diffLines, isBinary } from "../../../src/git/diff/line-diff.ts";
import { formatPatch, type PatchContent } from "../../../src/git/diff/patch.ts";
import { findRenames } from "../../../src/git/diff/renames.ts";
import { diffTrees, type PathChange, splitTypeChange } from "../../../src/git/diff/tree-diff.ts";
import { isSubmoduleMode } from "../../../src/git/object/tree.ts";
import { encodeText } from "../../../src/git/byte-text.ts";
import { git, gitBytes, makeFixture } from "../support/git.ts";
import { gitReader } from "../support/sidecars.ts";

const repositories = [makeFixture("history"), makeFixture("renames")];

/** The patch of one change, from contents that git reads. */
function patchOf(repository: string, change: PathChange): string {
  const read = (entry: { mode: number; oid: string } | undefined): Uint8Array => {
    if (!entry) return Buffer.alloc(0);
    if (isSubmoduleMode(entry.mode)) return Buffer.from(`Subproject commit ${entry.oid}\n`);
    return gitBytes(repository, ["cat-file", "blob", entry.oid]);
  };
  const old = read(change.kind === "added" ? undefined : change.old);
  const fresh = read(change.kind === "deleted" ? undefined : change.new);
  const content: PatchContent =
    isBinary(old) || isBinary(fresh)
      ? { kind: "binary" }
      : { kind: "text", diff: diffLines(old, fresh) };
  return formatPatch(change, content);
}

describe("a tree diff", () => {
  it.each(repositories)(
    "gives git's patch for every commit of %s, renames included",
    async (repository) => {
      const objects = gitReader(repository);
      const commits = git(repository, ["rev-list", "--all", "--min-parents=1"]).split("\n");
      for (const commit of commits) {
        const [oldOid, newOid] = git(repository, [
          "rev-parse",
          `${commit}^1^{tree}`,
          `${commit}^{tree}`,
        ]).split("\n");
        const changes = await diffTrees(objects, oldOid, newOid, { changesMax: 1000 });
        const renamed = await findRenames(objects, changes);
        const ours = renamed
          .flatMap(splitTypeChange)
          .map((change) => patchOf(repository, change))
          .join("");
        const theirs = gitBytes(repository, [
          "diff-tree",
          "-p",
          "-M",
          "--full-index",
          `${commit}^1`,
          commit,
        ]);
        expect(ours).toBe(theirs.toString("latin1"));
      }
    },
  );

  it("against nothing adds everything", async () => {
    const [repository = ""] = repositories;
    const objects = gitReader(repository);
    const treeOid = git(repository, ["rev-parse", "main^{tree}"]);
    const changes = await diffTrees(objects, undefined, treeOid, { changesMax: 1000 });
    const paths = changes.map((change) => (change.kind === "added" ? change.new.path : ""));
    expect(paths.join("\n")).toBe(
      git(repository, ["-c", "core.quotePath=false", "ls-tree", "-r", "--name-only", "main"]),
    );
  });

  it("can be narrowed to a path", async () => {
    const [repository = ""] = repositories;
    const objects = gitReader(repository);
    const treeOid = git(repository, ["rev-parse", "main^{tree}"]);
    const path = encodeText("docs/deep");
    const changes = await diffTrees(objects, undefined, treeOid, { changesMax: 1000, path });
    expect(changes).toMatchObject([{ kind: "added", new: { path: "docs/deep/er/one.txt" } }]);
  });

  it("of more files than allowed is refused", async () => {
    const [repository = ""] = repositories;
    const treeOid = git(repository, ["rev-parse", "main^{tree}"]);
    await expect(
      diffTrees(gitReader(repository), undefined, treeOid, { changesMax: 3 }),
    ).rejects.toMatchObject({ code: "limit" });
  });
});
