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

// Each comparison starts git several times.
vi.setConfig({ testTimeout: 60_000 });

/** What became of a patch: a tree, or why there is none. */
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
  const said = git(repository, args, { env, input: patch, mayFail: true });
  const [, error] = /^error: (.*)$/m.exec(said) ?? [];
  const tree = error === undefined ? git(repository, ["write-tree"], { env }) : "";
  rmSync(index, { force: true });
  return error === undefined ? { tree } : { error };
}

const treeOf = (repository: string, commit: string): string =>
  git(repository, ["rev-parse", `${commit}^{tree}`]);

const ANY_ERROR = { error: expect.any(String) };

/** What comes of a patch, by us and by git: alike but for the words of a refusal. */
async function applyByBoth(repository: string, rootOid: string, patch: Uint8Array) {
  const ours = await applyByUs(gitReader(repository), rootOid, patch);
  const theirs = applyByGit(repository, rootOid, patch);
  // Git takes a line that ends the file for one that does not, and joins it with what follows.
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

describe("what git diff prints", () => {
  it.each(["renames", "history", "merges"])("applies: %s", async (fixture) => {
    const repository = makeFixture(fixture);
    const log = git(repository, ["rev-list", "--all", "--parents"]).split("\n").slice(0, 25);
    let style = 0;
    for (const line of log) {
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
      // The other way round, of which names are swapped and new files are deleted ones.
      const back = gitBytes(repository, ["diff", ...options, commit, parent]);
      expect(await applyByUs(gitReader(repository), treeOf(repository, commit), back)).toEqual({
        tree: before,
      });
    }
  });

  it("applies as mails, several files and commits in a row", async () => {
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

  it("applies where files have changed, or does not, as git says", async () => {
    const repository = makeFixture("renames");
    const commits = git(repository, ["rev-list", "--first-parent", "--reverse", "HEAD"]).split(
      "\n",
    );
    const random = makeRandom(11);
    let applied = 0;
    for (let round = 0; round < 24; round++) {
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

/** A text of lines of which some are alike, and the same text edited in a few places. */
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
  it("are found where git finds them", async () => {
    const repository = makeDirectory();
    git(repository, ["init", "--quiet"]);
    const random = makeRandom(21);
    const store = (lines: readonly string[], isEnded: boolean): string => {
      const input = lines.join("\n") + (isEnded && lines.length > 0 ? "\n" : "");
      const oid = git(repository, ["hash-object", "-w", "--stdin"], { input });
      return git(repository, ["mktree"], { input: `100644 blob ${oid}\tfile\n` });
    };
    let [applied, refused] = [0, 0];
    for (let round = 0; round < 70; round++) {
      const base = Array.from({ length: 5 + random.below(40) }, () => `line ${random.below(12)}`);
      const old = store(base, random.below(4) > 0);
      const fresh = store(editText(random, base, 1 + random.below(3)), random.below(4) > 0);
      // Moved up or down, or edited elsewhere.
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
    expect(applied).toBeGreaterThan(10);
    expect(refused).toBeGreaterThan(10);
  });
});

const HEAD = "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n";
const HUNK = "@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n";
const ZERO = "0".repeat(40);

describe("patches that somebody wrote", () => {
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
    ["without", `--- a/a.txt\n+++ b/a.txt\n${HUNK}`],
    [
      "of a tool with times",
      `--- a/a.txt\t2020-01-01 10:00:00.123 +0100\n+++ b/a.txt\t2020-01-01 10:00:00 +0100\n${HUNK}`,
    ],
    ["of a tool with names alone", `--- a.txt\n+++ a.txt\n${HUNK}`],
    ["of a tool and a copy", `--- x/a.txt\n+++ x/a.txt.orig\n${HUNK}`],
    ["with words around", `Hello\n\n---\n a.txt | 2 +-\n\n${HEAD}${HUNK}-- \n2.39.5\n\nmore\n`],
    ["twice on one file", `${HEAD}${HUNK}${HEAD}@@ -1,3 +1,3 @@\n 1\n-two\n+2\n 3\n`],
    ["to an executable", "--- a/run\n+++ b/run\n@@ -1 +1 @@\n-x\n+y\n"],
    [
      "to lines that end in CR",
      "--- a/crlf\n+++ b/crlf\n@@ -1,3 +1,3 @@\n 1\r\n-2\r\n+two\r\n 3\r\n",
    ],
    ["with an empty line for context", "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,3 @@\n 1\n+\n 2\n"],
    [
      "to a file without a last line feed",
      "--- a/noend\n+++ b/noend\n@@ -1,2 +1,2 @@\n 1\n-2\n\\ No newline at end of file\n+3\n\\ No newline at end of file\n",
    ],
    [
      "that ends a file",
      "--- a/noend\n+++ b/noend\n@@ -1,2 +1,2 @@\n 1\n-2\n\\ No newline at end of file\n+2\n",
    ],
    [
      "that creates a file",
      "diff --git a/n b/n\nnew file mode 100755\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+n\n",
    ],
    ["that creates an empty file", "diff --git a/x/n b/x/n\nnew file mode 100644\n"],
    ["that creates a file without saying so", "--- a/n\n+++ b/n\n@@ -0,0 +1 @@\n+n\n"],
    [
      "that creates a file by its time",
      "--- a/n\t1970-01-01 01:00:00 +0100\n+++ b/n\t2020-01-01 10:00:00 +0100\n@@ -0,0 +1 @@\n+n\n",
    ],
    [
      "that creates a link",
      "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+a.txt\n\\ No newline at end of file\n",
    ],
    [
      "that deletes a file",
      "diff --git a/a.txt b/a.txt\ndeleted file mode 100644\n--- a/a.txt\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-1\n-2\n-3\n",
    ],
    ["that deletes a file, of a tool", "--- a/a.txt\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-1\n-2\n-3\n"],
    ["that deletes an empty file", "diff --git a/d/empty b/d/empty\ndeleted file mode 100644\n"],
    ["that fills an empty file", "--- a/d/empty\n+++ b/d/empty\n@@ -0,0 +1 @@\n+n\n"],
    ["of a mode", "diff --git a/run b/run\nold mode 100755\nnew mode 100644\n"],
    ["of a mode that is another", "diff --git a/a.txt b/a.txt\nold mode 100755\nnew mode 100644\n"],
    [
      "that renames",
      "diff --git a/a.txt b/z\nsimilarity index 100%\nrename from a.txt\nrename to z\n",
    ],
    [
      "that renames and changes",
      `diff --git a/a.txt b/z\nsimilarity index 50%\nrename from a.txt\nrename to z\n--- a/a.txt\n+++ b/z\n${HUNK}`,
    ],
    ["that copies", "diff --git a/a.txt b/z\nsimilarity index 100%\ncopy from a.txt\ncopy to z\n"],
    [
      "that turns a file into a link",
      "diff --git a/run b/run\ndeleted file mode 100755\n--- a/run\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\ndiff --git a/run b/run\nnew file mode 120000\n--- /dev/null\n+++ b/run\n@@ -0,0 +1 @@\n+y\n\\ No newline at end of file\n",
    ],
    [
      "that moves a link on",
      "diff --git a/link b/link\n--- a/link\n+++ b/link\n@@ -1 +1 @@\n-a.txt\n\\ No newline at end of file\n+run\n\\ No newline at end of file\n",
    ],
    [
      "that moves a submodule on",
      `diff --git a/module b/module\nindex 1111111..2222222 160000\n--- a/module\n+++ b/module\n@@ -1 +1 @@\n-Subproject commit ${"1".repeat(40)}\n+Subproject commit ${"2".repeat(40)}\n`,
    ],
    [
      "of a name in quotes",
      'diff --git "a/sp ace\\t\\303\\274" "b/sp ace\\t\\303\\274"\n--- "a/sp ace\\t\\303\\274"\n+++ "b/sp ace\\t\\303\\274"\n@@ -1 +1 @@\n-1\n+2\n',
    ],
    [
      "of a name with a space",
      "diff --git a/b c b/b c\n--- a/b c\t\n+++ b/b c\t\n@@ -1 +1 @@\n-1\n+2\n",
    ],
    [
      "of a mode of a name with a space",
      "diff --git a/b c b/b c\nold mode 100644\nnew mode 100755\n",
    ],
    [
      "that replaces a file by a directory",
      "diff --git a/run b/run\ndeleted file mode 100755\n--- a/run\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\ndiff --git a/run/x b/run/x\nnew file mode 100644\n--- /dev/null\n+++ b/run/x\n@@ -0,0 +1 @@\n+y\n",
    ],
    ["with a hunk without counts", "--- a/run\n+++ b/run\n@@ -1 +1 @@ func()\n-x\n+y\n"],
    [
      "of a mode that git keeps in another way",
      "diff --git a/n b/n\nnew file mode 100775\ndiff --git a/m b/m\nnew file mode 100664\n",
    ],
  ])("apply %s", async (_, patch) => {
    const { ours, theirs } = await run(patch);
    expect(ours).toEqual(theirs);
    expect(ours).toHaveProperty("tree");
  });

  it.each([
    ["nothing", ""],
    ["words alone", "Hello\nthere\n"],
    ["a hunk alone", HUNK],
    ["a header alone", HEAD],
    ["nothing behind a header", `diff --git a/run b/run\nsomething else\n${HEAD}${HUNK}`],
    ["a hunk that is cut off", (HEAD + HUNK).slice(0, -3)],
    ["a last line that is cut off", (HEAD + HUNK).slice(0, -1)],
    ["a wrong count", HEAD + HUNK.replace("-1,3", "-1,4")],
    ["a hunk that changes nothing", `${HEAD}@@ -1,1 +1,1 @@\n 1\n`],
    ["a hunk for what another has left", `${HEAD}${HUNK}@@ -2,2 +2,2 @@\n-two\n+zwei\n 3\n`],
    ["a mark that is none", HEAD + HUNK.replace("+two", "*two")],
    ["another context", HEAD + HUNK.replace(" 3", " 4")],
    ["an end that is none", `${HEAD}@@ -1,2 +1,2 @@\n 1\n-2\n+two\n`],
    ["a file that is not there", HEAD.replaceAll("a.txt", "none") + HUNK],
    ["a directory", HEAD.replaceAll("a.txt", "d") + HUNK],
    [
      "a new file that is there",
      "diff --git a/run b/run\nnew file mode 100644\n--- /dev/null\n+++ b/run\n@@ -0,0 +1 @@\n+n\n",
    ],
    [
      "a new file with old lines",
      "diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -1 +1 @@\n-x\n+n\n",
    ],
    [
      "a rename onto a file",
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
      "a deletion that adds",
      "diff --git a/a.txt b/a.txt\ndeleted file mode 100644\n--- a/a.txt\n+++ /dev/null\n@@ -1,3 +1 @@\n-1\n-2\n-3\n+4\n",
    ],
    [
      "a link that is a file",
      "diff --git a/a.txt b/a.txt\nold mode 120000\nnew mode 120000\n--- a/a.txt\n+++ b/a.txt\n" +
        HUNK,
    ],
    [
      "a file that becomes a link by its mode",
      "diff --git a/run b/run\nold mode 100755\nnew mode 120000\n",
    ],
    [
      "a file below a file",
      "diff --git a/run/x b/run/x\nnew file mode 100644\n--- /dev/null\n+++ b/run/x\n@@ -0,0 +1 @@\n+y\n",
    ],
    [
      "a file below a link",
      "diff --git a/link/x b/link/x\nnew file mode 100644\n--- /dev/null\n+++ b/link/x\n@@ -0,0 +1 @@\n+y\n",
    ],
    [
      "names that differ",
      `diff --git a/a.txt b/a.txt\nrename from a.txt\nrename to z\n--- a/run\n+++ b/z\n${HUNK}`,
    ],
    ["two names without a rename", "diff --git a/a.txt b/run\nold mode 100644\nnew mode 100755\n"],
    ["a mode that is none", "diff --git a/run b/run\nold mode 100755\nnew mode 9\n"],
    [
      "bytes that it does not bring",
      `diff --git a/a.txt b/a.txt\nindex ${oids["a.txt"]}..${oids["run"]}x 100644\nBinary files a/a.txt and b/a.txt differ\n`,
    ],
    [
      "bytes of a file that it does not know",
      "diff --git a/a.txt b/a.txt\nindex 1234567..89abcde 100644\nGIT binary patch\nliteral 1\nIcmZPo000310RR91\n\n",
    ],
    [
      "bytes that are not whole",
      `diff --git a/n b/n\nnew file mode 100644\nindex ${ZERO}..${"1".repeat(40)}\nGIT binary patch\nliteral 1\nIcmZPo00031\n\n`,
    ],
    [
      "bytes that are none",
      `diff --git a/n b/n\nnew file mode 100644\nindex ${ZERO}..${"1".repeat(40)}\nGIT binary patch\nliteral 1\nA~~~~"\n\n`,
    ],
    [
      "bytes of another file",
      `diff --git a/n b/n\nnew file mode 100644\nindex ${ZERO}..${"1".repeat(40)}\nGIT binary patch\nliteral 1\nIcmZPo000310RR91\n\n`,
    ],
    [
      "nothing of bytes",
      `diff --git a/n b/n\nnew file mode 100644\nindex ${ZERO}..${"1".repeat(40)}\nGIT binary patch\n\n`,
    ],
  ])("are refused with %s", async (_, patch) => {
    const { ours, theirs } = await run(patch);
    expect(ours).toEqual(theirs);
    expect(ours).toHaveProperty("error");
  });

  it("are refused in git's own words", async () => {
    const said = async (patch: string) => (await run(patch)).ours;
    expect(await said(HEAD + HUNK.replace(" 3", " 4"))).toMatchObject({
      error: "patch failed: a.txt:1: a.txt: patch does not apply",
    });
    expect(await said((HEAD + HUNK).slice(0, -1))).toMatchObject({
      error: "corrupt patch at line 8",
    });
    expect(await said("x\n")).toMatchObject({ error: "No valid patches in input" });
    expect(await said(HEAD.replaceAll("a.txt", "none") + HUNK)).toMatchObject({
      error: "none: does not exist in index",
    });
  });

  // SECURITY: git takes the new content from its store if it is there. Here it may be anybody's.
  it("never bring what they merely name", async () => {
    const patch = `diff --git a/a.txt b/a.txt\nindex ${oids["a.txt"]}..${oids["run"]} 100644\nBinary files a/a.txt and b/a.txt differ\n`;
    expect(applyByGit(repository, root, Buffer.from(patch))).toHaveProperty("tree");
    const ours = await applyByUs(gitReader(repository), root, Buffer.from(patch));
    expect(ours).toMatchObject({ error: expect.stringContaining("missing binary patch data") });
  });

  // SECURITY: memory and time are bounded, whatever a patch claims.
  it("claim no more than there is room for", async () => {
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
    const lost = ` \n`.repeat(20_000);
    const hunk = `@@ -9,20002 +9,20002 @@\n${lost}-x\n+y\n \n \n`
      .replace("9,20002", "9,20003")
      .replace("9,20002", "9,20003");
    const patch = Buffer.from(`--- a/f\n+++ b/f\n${hunk}`);
    expect(await applyByUs(gitReader(repository), wide, patch)).toEqual({
      error: "too much to search for where the patch belongs",
    });
  });

  it("are refused as damaged, never by a failure of ours", async () => {
    const stored = gitReader(repository);
    const known = new Map<string, ReturnType<ObjectReader["readObject"]>>();
    const objects: ObjectReader = {
      readObject: (oid) => {
        if (!known.has(oid)) known.set(oid, stored.readObject(oid));
        return known.get(oid) ?? stored.readObject(oid);
      },
    };
    const empty = git(repository, ["mktree"]);
    const whole = gitBytes(repository, ["diff", "--binary", "--full-index", empty, root]);
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
    for (let round = 0; round < 400; round++) {
      const patch = damage(random, random.pick([whole, back, Buffer.from(HEAD + HUNK)]));
      const outcome = await applyByUs(objects, random.pick([root, empty]), patch);
      if ("error" in outcome) refused++;
    }
    expect(refused).toBeGreaterThan(100);
  });
});
