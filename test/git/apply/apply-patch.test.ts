import { rmSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it, vi } from "vitest";

import { applyPatch } from "../../../src/git/apply/apply-patch.ts";
import { parsePatch } from "../../../src/git/apply/parse-patch.ts";
import { readByteText } from "../../../src/git/byte-text.ts";
import { GitError } from "../../../src/git/error.ts";
import { hashObject } from "../../../src/git/object/hash-object.ts";
import type { ObjectKind } from "../../../src/git/object/kind.ts";
import { TreeDraft } from "../../../src/git/tree-draft.ts";
import type { ObjectReader, StoredObject } from "../../../src/git/store.ts";
import { damage } from "../fuzz/damage.ts";
import { git, gitBytes, makeDirectory, makeFixture } from "../support/git.ts";
import { makeRandom, type Random } from "../support/random.ts";
import { gitReader } from "../support/sidecars.ts";
import { caseCount, sampleOf } from "../../support/sample.ts";

// Each comparison starts git several times.
vi.setConfig({ testTimeout: 60_000 });

/** The result of a patch: a tree, or the error message of a refusal. */
type Outcome = { tree: string } | { error: string };

async function applyByUs(
  stored: ObjectReader,
  rootOid: string,
  patch: Uint8Array,
): Promise<Outcome> {
  const written = new Map<string, StoredObject>();
  const add = (kind: ObjectKind) => (content: Uint8Array) => {
    const oid = hashObject(kind, content);
    written.set(oid, { kind, content });
    return oid;
  };
  const objects: ObjectReader = {
    readObject: async (oid) => written.get(oid) ?? stored.readObject(oid),
  };
  const tree = new TreeDraft(objects, rootOid);
  try {
    await applyPatch({ tree, objects, write: add("blob") }, parsePatch(readByteText(patch)));
    return { tree: await tree.write(add("tree")) };
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    return { error: error.message };
  }
}

function applyByGit(repository: string, rootOid: string, patch: Uint8Array): Outcome {
  const index = join(makeDirectory(), "index");
  const env = { GIT_INDEX_FILE: index };
  git(repository, ["read-tree", rootOid], { env });
  const args = ["apply", "--cached", "--whitespace=nowarn", "-"];
  const output = git(repository, args, { env, input: patch, mayFail: true });
  const [, error] = /^error: (.*)$/m.exec(output) ?? [];
  const tree = error === undefined ? git(repository, ["write-tree"], { env }) : "";
  rmSync(index, { force: true });
  return error === undefined ? { tree } : { error };
}

const treeOf = (repository: string, commit: string): string =>
  git(repository, ["rev-parse", `${commit}^{tree}`]);

const ANY_ERROR = { error: expect.any(String) };

/** The results of `applyPatch` and of git for a patch, comparable except for error messages. */
async function applyByBoth(repository: string, rootOid: string, patch: Uint8Array) {
  const ours = await applyByUs(gitReader(repository), rootOid, patch);
  const theirs = applyByGit(repository, rootOid, patch);
  // Git accepts an unterminated context line in the middle of a file and joins it with the
  // following line.
  const isJoined = "error" in ours && /^ .*\n\\ No newline/m.test(patch.toString());
  const expected = "error" in theirs || isJoined ? ANY_ERROR : theirs;
  return {
    ours: { patch: patch.toString(), ...ours },
    theirs: { patch: patch.toString(), ...expected },
  };
}

const STYLES: readonly (readonly string[])[] = [
  ["--full-index", "--binary", "-M", "-C"],
  ["--full-index", "--binary", "--no-renames", "-U1"],
  ["--binary", "-M", "-C", "--find-copies-harder", "-U7"],
  ["--binary", "--no-renames", "--patience", "-U20"],
];

describe("the output of git diff", () => {
  it.each(["renames", "history", "merges"])("applies: %s", async (fixture) => {
    const repository = makeFixture(fixture);
    const log = git(repository, ["rev-list", "--all", "--parents"]).split("\n").slice(0, 25);
    let style = 0;
    for (const line of sampleOf(log, 8, fixture)) {
      const [commit = "", parent] = line.split(" ");
      if (parent === undefined) continue;
      const options = STYLES[style++ % STYLES.length] ?? [];
      const patch = gitBytes(repository, ["diff", ...options, parent, commit]);
      if (patch.length === 0) continue;
      const before = treeOf(repository, parent);
      const ours = await applyByUs(gitReader(repository), before, patch);
      expect([patch.toString(), ours]).toEqual([
        patch.toString(),
        { tree: treeOf(repository, commit) },
      ]);
      // The reverse diff has swapped names, and deleted files instead of new ones.
      const back = gitBytes(repository, ["diff", ...options, commit, parent]);
      expect(await applyByUs(gitReader(repository), treeOf(repository, commit), back)).toEqual({
        tree: before,
      });
    }
  });

  it("applies as format-patch mails for each commit of a history", async () => {
    const repository = makeFixture("renames");
    const commits = git(repository, ["rev-list", "--first-parent", "--reverse", "HEAD"]).split(
      "\n",
    );
    for (const [at, commit] of commits.entries()) {
      const parent = commits[at - 1];
      if (parent === undefined) continue;
      const args = ["format-patch", "--stdout", "--binary", "--full-index", `${parent}..${commit}`];
      const patch = gitBytes(repository, args);
      const { ours, theirs } = await applyByBoth(repository, treeOf(repository, parent), patch);
      expect(ours).toEqual(theirs);
    }
  });

  it("applies or fails as with git where files have changed", async () => {
    const repository = makeFixture("renames");
    const commits = git(repository, ["rev-list", "--first-parent", "--reverse", "HEAD"]).split(
      "\n",
    );
    const random = makeRandom(11);
    let applied = 0;
    for (let round = 0; round < caseCount(12, 24); round++) {
      const at = random.below(commits.length - 1);
      const [from = "", to = ""] = [commits[at], commits[at + 1]];
      const onto = commits[Math.min(commits.length - 1, at + 1 + random.below(3))] ?? "";
      const [old, fresh] = round % 2 === 0 ? [from, to] : [to, from];
      const patch = gitBytes(repository, ["diff", "--binary", "--full-index", "-M", old, fresh]);
      const { ours, theirs } = await applyByBoth(repository, treeOf(repository, onto), patch);
      expect(ours).toEqual(theirs);
      if ("tree" in ours) applied++;
    }
    expect(applied).toBeGreaterThan(2);
  });
});

/** Edits lines in a few random positions. */
function editText(random: Random, lines: readonly string[], edits: number): string[] {
  const edited = [...lines];
  for (let edit = 0; edit < edits; edit++) {
    const at = random.below(edited.length + 1);
    const fresh = Array.from({ length: random.below(4) }, () => `new ${random.below(9)}`);
    edited.splice(at, random.below(3), ...fresh);
  }
  return edited;
}

describe("hunks", () => {
  it("apply at the positions where git applies them", async () => {
    const repository = makeDirectory();
    git(repository, ["init", "--quiet"]);
    const random = makeRandom(21);
    const store = (lines: readonly string[], isEnded: boolean): string => {
      const input = lines.join("\n") + (isEnded && lines.length > 0 ? "\n" : "");
      const oid = git(repository, ["hash-object", "-w", "--stdin"], { input });
      return git(repository, ["mktree"], { input: `100644 blob ${oid}\tfile\n` });
    };
    let [applied, refused] = [0, 0];
    for (let round = 0; round < caseCount(35, 70); round++) {
      const base = Array.from({ length: 5 + random.below(40) }, () => `line ${random.below(12)}`);
      const old = store(base, random.below(4) > 0);
      const fresh = store(editText(random, base, 1 + random.below(3)), random.below(4) > 0);
      // The target text is shifted, or edited elsewhere.
      const head = Array.from({ length: random.below(6) }, () => `line ${random.below(12)}`);
      const onto = store(
        editText(random, [...head, ...base], random.below(2)),
        random.below(6) > 0,
      );
      const context = `-U${random.below(5)}`;
      const patch = gitBytes(repository, ["diff", context, old, fresh]);
      if (patch.length === 0) continue;
      const { ours, theirs } = await applyByBoth(repository, onto, patch);
      expect(ours).toEqual(theirs);
      if ("tree" in ours) applied++;
      else refused++;
    }
    expect(applied).toBeGreaterThan(5);
    expect(refused).toBeGreaterThan(5);
  });
});

const HEAD = "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n";
const HUNK = "@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n";
const ZERO = "0".repeat(40);

describe("handwritten patches", () => {
  const repository = makeDirectory();
  git(repository, ["init", "--quiet"]);
  const add = (mode: string, name: string, input: string): string => {
    const oid = git(repository, ["hash-object", "-w", "--stdin"], { input });
    return `${mode} ${oid}\t${name}\n`;
  };
  const entries = [
    add("100644", "a.txt", "1\n2\n3\n"),
    add("100755", "run", "x\n"),
    add("100644", "crlf", "1\r\n2\r\n3\r\n"),
    add("100644", "d/empty", ""),
    add("120000", "link", "a.txt"),
    add("100644", '"sp ace\\t\\303\\274"', "1\n"),
    add("100644", "b c", "1\n"),
    add("100644", "noend", "1\n2"),
    `160000 ${"1".repeat(40)}\tmodule\n`,
  ];
  git(repository, ["update-index", "--index-info"], { input: entries.join("") });
  const root = git(repository, ["write-tree"]);
  const oids = Object.fromEntries(
    git(repository, ["ls-files", "-s", "-z"])
      .split("\0")
      .map((line) => {
        const [, oid, , name] = /^\d+ (\w+) (\d)\t(.*)$/s.exec(line) ?? [];
        return [name ?? "", oid ?? ""];
      }),
  );
  const run = (patch: string) => applyByBoth(repository, root, Buffer.from(patch));

  it.each([
    ["with a git header", HEAD + HUNK],
    ["without a git header", `--- a/a.txt\n+++ b/a.txt\n${HUNK}`],
    [
      "of diff -u, with times",
      `--- a/a.txt\t2020-01-01 10:00:00.123 +0100\n+++ b/a.txt\t2020-01-01 10:00:00 +0100\n${HUNK}`,
    ],
    ["of diff -u, with names only", `--- a.txt\n+++ a.txt\n${HUNK}`],
    ["of diff -u, against a backup copy", `--- x/a.txt\n+++ x/a.txt.orig\n${HUNK}`],
    ["with surrounding text", `Hello\n\n---\n a.txt | 2 +-\n\n${HEAD}${HUNK}-- \n2.39.5\n\nmore\n`],
    ["that change one file twice", `${HEAD}${HUNK}${HEAD}@@ -1,3 +1,3 @@\n 1\n-two\n+2\n 3\n`],
    ["to an executable", "--- a/run\n+++ b/run\n@@ -1 +1 @@\n-x\n+y\n"],
    [
      "to lines that end in CR",
      "--- a/crlf\n+++ b/crlf\n@@ -1,3 +1,3 @@\n 1\r\n-2\r\n+two\r\n 3\r\n",
    ],
    ["with an empty line as context", "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,3 @@\n 1\n+\n 2\n"],
    [
      "to a file without a last line feed",
      "--- a/noend\n+++ b/noend\n@@ -1,2 +1,2 @@\n 1\n-2\n\\ No newline at end of file\n+3\n\\ No newline at end of file\n",
    ],
    [
      "that add the final line feed of a file",
      "--- a/noend\n+++ b/noend\n@@ -1,2 +1,2 @@\n 1\n-2\n\\ No newline at end of file\n+2\n",
    ],
    [
      "that create a file",
      "diff --git a/n b/n\nnew file mode 100755\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+n\n",
    ],
    ["that create an empty file", "diff --git a/x/n b/x/n\nnew file mode 100644\n"],
    ["that create a file without a header for it", "--- a/n\n+++ b/n\n@@ -0,0 +1 @@\n+n\n"],
    [
      "that create a file, marked by its time",
      "--- a/n\t1970-01-01 01:00:00 +0100\n+++ b/n\t2020-01-01 10:00:00 +0100\n@@ -0,0 +1 @@\n+n\n",
    ],
    [
      "that create a symlink",
      "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+a.txt\n\\ No newline at end of file\n",
    ],
    [
      "that delete a file",
      "diff --git a/a.txt b/a.txt\ndeleted file mode 100644\n--- a/a.txt\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-1\n-2\n-3\n",
    ],
    ["of diff -u, that delete a file", "--- a/a.txt\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-1\n-2\n-3\n"],
    ["that delete an empty file", "diff --git a/d/empty b/d/empty\ndeleted file mode 100644\n"],
    ["that fill an empty file", "--- a/d/empty\n+++ b/d/empty\n@@ -0,0 +1 @@\n+n\n"],
    ["that change a mode", "diff --git a/run b/run\nold mode 100755\nnew mode 100644\n"],
    [
      "that change a mode from another than the file has",
      "diff --git a/a.txt b/a.txt\nold mode 100755\nnew mode 100644\n",
    ],
    [
      "that rename a file",
      "diff --git a/a.txt b/z\nsimilarity index 100%\nrename from a.txt\nrename to z\n",
    ],
    [
      "that rename and change a file",
      `diff --git a/a.txt b/z\nsimilarity index 50%\nrename from a.txt\nrename to z\n--- a/a.txt\n+++ b/z\n${HUNK}`,
    ],
    [
      "that copy a file",
      "diff --git a/a.txt b/z\nsimilarity index 100%\ncopy from a.txt\ncopy to z\n",
    ],
    [
      "that turn a file into a symlink",
      "diff --git a/run b/run\ndeleted file mode 100755\n--- a/run\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\ndiff --git a/run b/run\nnew file mode 120000\n--- /dev/null\n+++ b/run\n@@ -0,0 +1 @@\n+y\n\\ No newline at end of file\n",
    ],
    [
      "that change the target of a symlink",
      "diff --git a/link b/link\n--- a/link\n+++ b/link\n@@ -1 +1 @@\n-a.txt\n\\ No newline at end of file\n+run\n\\ No newline at end of file\n",
    ],
    [
      "that change the commit of a submodule",
      `diff --git a/module b/module\nindex 1111111..2222222 160000\n--- a/module\n+++ b/module\n@@ -1 +1 @@\n-Subproject commit ${"1".repeat(40)}\n+Subproject commit ${"2".repeat(40)}\n`,
    ],
    [
      "with a quoted name",
      'diff --git "a/sp ace\\t\\303\\274" "b/sp ace\\t\\303\\274"\n--- "a/sp ace\\t\\303\\274"\n+++ "b/sp ace\\t\\303\\274"\n@@ -1 +1 @@\n-1\n+2\n',
    ],
    [
      "with a name that contains a space",
      "diff --git a/b c b/b c\n--- a/b c\t\n+++ b/b c\t\n@@ -1 +1 @@\n-1\n+2\n",
    ],
    [
      "that change a mode, with a name that contains a space",
      "diff --git a/b c b/b c\nold mode 100644\nnew mode 100755\n",
    ],
    [
      "that replace a file by a directory",
      "diff --git a/run b/run\ndeleted file mode 100755\n--- a/run\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\ndiff --git a/run/x b/run/x\nnew file mode 100644\n--- /dev/null\n+++ b/run/x\n@@ -0,0 +1 @@\n+y\n",
    ],
    ["with a hunk without counts", "--- a/run\n+++ b/run\n@@ -1 +1 @@ func()\n-x\n+y\n"],
    [
      "with a mode that git normalizes",
      "diff --git a/n b/n\nnew file mode 100775\ndiff --git a/m b/m\nnew file mode 100664\n",
    ],
  ])("%s apply", async (_, patch) => {
    const { ours, theirs } = await run(patch);
    expect(ours).toEqual(theirs);
    expect(ours).toHaveProperty("tree");
  });

  it.each([
    ["no content", ""],
    ["only text", "Hello\nthere\n"],
    ["only a hunk", HUNK],
    ["only a header", HEAD],
    ["a header without changes", `diff --git a/run b/run\nsomething else\n${HEAD}${HUNK}`],
    ["a truncated hunk", (HEAD + HUNK).slice(0, -3)],
    ["an unterminated last line", (HEAD + HUNK).slice(0, -1)],
    ["a wrong count", HEAD + HUNK.replace("-1,3", "-1,4")],
    ["a hunk that changes nothing", `${HEAD}@@ -1,1 +1,1 @@\n 1\n`],
    ["a hunk that overlaps an earlier hunk", `${HEAD}${HUNK}@@ -2,2 +2,2 @@\n-two\n+zwei\n 3\n`],
    ["an unknown line marker", HEAD + HUNK.replace("+two", "*two")],
    ["context that does not match", HEAD + HUNK.replace(" 3", " 4")],
    [
      "a hunk without trailing context before the end of the file",
      `${HEAD}@@ -1,2 +1,2 @@\n 1\n-2\n+two\n`,
    ],
    ["a file that does not exist", HEAD.replaceAll("a.txt", "none") + HUNK],
    ["a directory", HEAD.replaceAll("a.txt", "d") + HUNK],
    [
      "a new file that already exists",
      "diff --git a/run b/run\nnew file mode 100644\n--- /dev/null\n+++ b/run\n@@ -0,0 +1 @@\n+n\n",
    ],
    [
      "a new file with old lines",
      "diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -1 +1 @@\n-x\n+n\n",
    ],
    [
      "a rename to an existing file",
      "diff --git a/a.txt b/run\nsimilarity index 100%\nrename from a.txt\nrename to run\n",
    ],
    [
      "a file that was renamed already",
      `diff --git a/a.txt b/z\nsimilarity index 100%\nrename from a.txt\nrename to z\n${HEAD}${HUNK}`,
    ],
    [
      "a deletion that leaves lines",
      "diff --git a/a.txt b/a.txt\ndeleted file mode 100644\n--- a/a.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-1\n-2\n",
    ],
    ["a deletion without lines", "diff --git a/a.txt b/a.txt\ndeleted file mode 100644\n"],
    [
      "a deletion that adds lines",
      "diff --git a/a.txt b/a.txt\ndeleted file mode 100644\n--- a/a.txt\n+++ /dev/null\n@@ -1,3 +1 @@\n-1\n-2\n-3\n+4\n",
    ],
    [
      "a symlink's mode for a file",
      "diff --git a/a.txt b/a.txt\nold mode 120000\nnew mode 120000\n--- a/a.txt\n+++ b/a.txt\n" +
        HUNK,
    ],
    [
      "a mode change from file to symlink",
      "diff --git a/run b/run\nold mode 100755\nnew mode 120000\n",
    ],
    [
      "a file below a file",
      "diff --git a/run/x b/run/x\nnew file mode 100644\n--- /dev/null\n+++ b/run/x\n@@ -0,0 +1 @@\n+y\n",
    ],
    [
      "a file below a symlink",
      "diff --git a/link/x b/link/x\nnew file mode 100644\n--- /dev/null\n+++ b/link/x\n@@ -0,0 +1 @@\n+y\n",
    ],
    [
      "names that differ",
      `diff --git a/a.txt b/a.txt\nrename from a.txt\nrename to z\n--- a/run\n+++ b/z\n${HUNK}`,
    ],
    ["two names without a rename", "diff --git a/a.txt b/run\nold mode 100644\nnew mode 100755\n"],
    ["an invalid mode", "diff --git a/run b/run\nold mode 100755\nnew mode 9\n"],
    [
      "a binary change without data",
      `diff --git a/a.txt b/a.txt\nindex ${oids["a.txt"]}..${oids["run"]}x 100644\nBinary files a/a.txt and b/a.txt differ\n`,
    ],
    [
      "binary data and abbreviated ids",
      "diff --git a/a.txt b/a.txt\nindex 1234567..89abcde 100644\nGIT binary patch\nliteral 1\nIcmZPo000310RR91\n\n",
    ],
    [
      "truncated binary data",
      `diff --git a/n b/n\nnew file mode 100644\nindex ${ZERO}..${"1".repeat(40)}\nGIT binary patch\nliteral 1\nIcmZPo00031\n\n`,
    ],
    [
      "binary data that is not base 85",
      `diff --git a/n b/n\nnew file mode 100644\nindex ${ZERO}..${"1".repeat(40)}\nGIT binary patch\nliteral 1\nA~~~~"\n\n`,
    ],
    [
      "binary data that does not match the new id",
      `diff --git a/n b/n\nnew file mode 100644\nindex ${ZERO}..${"1".repeat(40)}\nGIT binary patch\nliteral 1\nIcmZPo000310RR91\n\n`,
    ],
    [
      "a binary header without data",
      `diff --git a/n b/n\nnew file mode 100644\nindex ${ZERO}..${"1".repeat(40)}\nGIT binary patch\n\n`,
    ],
  ])("are refused with %s", async (_, patch) => {
    const { ours, theirs } = await run(patch);
    expect(ours).toEqual(theirs);
    expect(ours).toHaveProperty("error");
  });

  it("are refused with git's error messages", async () => {
    const resultOf = async (patch: string) => (await run(patch)).ours;
    expect(await resultOf(HEAD + HUNK.replace(" 3", " 4"))).toMatchObject({
      error: "patch failed: a.txt:1: a.txt: patch does not apply",
    });
    expect(await resultOf((HEAD + HUNK).slice(0, -1))).toMatchObject({
      error: "corrupt patch at line 8",
    });
    expect(await resultOf("x\n")).toMatchObject({ error: "No valid patches in input" });
    expect(await resultOf(HEAD.replaceAll("a.txt", "none") + HUNK)).toMatchObject({
      error: "none: does not exist in index",
    });
  });

  // SECURITY: git takes the new content from its object store if it exists there. Here the store
  // may hold objects that the author of the patch may not read.
  it("cannot add stored content by its id alone", async () => {
    const patch = `diff --git a/a.txt b/a.txt\nindex ${oids["a.txt"]}..${oids["run"]} 100644\nBinary files a/a.txt and b/a.txt differ\n`;
    expect(applyByGit(repository, root, Buffer.from(patch))).toHaveProperty("tree");
    const ours = await applyByUs(gitReader(repository), root, Buffer.from(patch));
    expect(ours).toMatchObject({ error: expect.stringContaining("missing binary patch data") });
  });

  // SECURITY: memory and time are bounded, whatever sizes a patch claims.
  it("are refused when they need too much memory or time", async () => {
    const { deflated, claim } = { deflated: "IcmZPo000310RR91", claim: "literal 9999999999" };
    const oid = "1".repeat(40);
    const large = `diff --git a/n b/n\nnew file mode 100644\nindex ${ZERO}..${oid}\nGIT binary patch\n${claim}\n${deflated}\n\n`;
    const apply = (patch: string) => applyByUs(gitReader(repository), root, Buffer.from(patch));
    expect(await apply(large)).toEqual({ error: "the files are too large to be patched here" });
    const odd = ["diff --git ", "--- ", "+++ ", 'diff --git "'].map(
      (word) => word + "a/ ".repeat(9000),
    );
    // Quadratic work on any of them would take minutes, which no test has.
    for (const line of odd) {
      expect(await apply(`${line}\n`.repeat(200) + HEAD + HUNK)).toBeTruthy();
    }
    const same = "\n".repeat(40_000);
    const blob = git(repository, ["hash-object", "-w", "--stdin"], { input: same });
    const wide = git(repository, ["mktree"], { input: `100644 blob ${blob}\tf\n` });
    const unmatched = ` \n`.repeat(20_000);
    const hunk = `@@ -9,20002 +9,20002 @@\n${unmatched}-x\n+y\n \n \n`
      .replace("9,20002", "9,20003")
      .replace("9,20002", "9,20003");
    const patch = Buffer.from(`--- a/f\n+++ b/f\n${hunk}`);
    expect(await applyByUs(gitReader(repository), wide, patch)).toEqual({
      error: "too much to search for where the patch belongs",
    });
  });

  it("are refused with a GitError when damaged, never with another error", async () => {
    const stored = gitReader(repository);
    const known = new Map<string, ReturnType<ObjectReader["readObject"]>>();
    const objects: ObjectReader = {
      readObject: (oid) => {
        if (!known.has(oid)) known.set(oid, stored.readObject(oid));
        return known.get(oid) ?? stored.readObject(oid);
      },
    };
    const empty = git(repository, ["mktree"]);
    const forward = gitBytes(repository, ["diff", "--binary", "--full-index", empty, root]);
    const back = gitBytes(repository, [
      "diff",
      "--binary",
      "--full-index",
      "-R",
      "-M",
      empty,
      root,
    ]);
    const random = makeRandom(31);
    let refused = 0;
    for (let round = 0; round < caseCount(150, 400); round++) {
      const patch = damage(random, random.pick([forward, back, Buffer.from(HEAD + HUNK)]));
      const outcome = await applyByUs(objects, random.pick([root, empty]), patch);
      if ("error" in outcome) refused++;
    }
    expect(refused).toBeGreaterThan(30);
  });
});
