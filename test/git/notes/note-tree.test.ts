import { describe, expect, it, vi } from "vitest";

import { hashObject } from "../../../src/git/object/hash-object.ts";
import { NoteTree } from "../../../src/git/notes/note-tree.ts";
import type { ObjectReader, StoredObject } from "../../../src/git/store.ts";
import { git, makeDirectory } from "../support/git.ts";
import { makeRandom } from "../support/random.ts";
import { gitReader } from "../support/sidecars.ts";

// Each step runs git several times.
vi.setConfig({ testTimeout: 60_000 });

const BLOB = hashObject("blob", new Uint8Array());

/** Makes a repository for git, and a reader that also returns the trees we have written. */
function makeNotes() {
  const directory = makeDirectory();
  git(directory, ["init", "--quiet"]);
  git(directory, ["hash-object", "-w", "--stdin"]);
  const written = new Map<string, StoredObject>();
  const stored = gitReader(directory);
  const reader = { reads: 0 };
  const objects: ObjectReader = {
    readObject: async (oid) => {
      reader.reads++;
      return written.get(oid) ?? stored.readObject(oid);
    },
  };
  const write = (content: Uint8Array): string => {
    const oid = hashObject("tree", content);
    written.set(oid, { kind: "tree", content });
    return oid;
  };
  return { directory, reader, objects, write };
}

/** Writes notes with `git notes add` and `git notes remove`. */
class GitNotes {
  private readonly directory: string;
  /** Ids of the objects, in pseudo-random order. */
  readonly oids: string[];

  constructor(directory: string, count: number) {
    this.directory = directory;
    const input = Array.from(
      { length: count },
      (_, at) => `blob\ndata ${String(at).length}\n${at}\n`,
    );
    git(directory, ["fast-import", "--quiet"], { input: input.join("") });
    const listed = git(directory, [
      "cat-file",
      "--batch-all-objects",
      "--batch-check=%(objectname)",
    ]);
    // Sorted by some middle digits, which is a pseudo-random order.
    this.oids = listed.split("\n").toSorted((a, b) => (a.slice(9, 16) < b.slice(9, 16) ? -1 : 1));
  }

  /** Adds the empty blob as a note to each object in one run; returns the new tree. */
  add(oids: readonly string[]): string {
    const [first = ""] = oids;
    git(this.directory, ["notes", "add", "--allow-empty", "-f", "-C", BLOB, first]);
    const input = oids.map((oid) => `${first} ${oid}\n`).join("");
    git(this.directory, ["notes", "copy", "-f", "--stdin"], { input });
    return this.tree();
  }

  remove(oids: readonly string[]): string {
    git(this.directory, ["notes", "remove", ...oids]);
    return this.tree();
  }

  tree = (): string => git(this.directory, ["rev-parse", "refs/notes/commits^{tree}"]);
}

describe("NoteTree", () => {
  it("writes the same trees as git while notes are added and removed", async () => {
    const { directory, objects, write } = makeNotes();
    const theirs = new GitNotes(directory, 700);
    let root: string | undefined;
    // Git's fanout grows to one directory level between about 60 and 100 notes.
    const adding = theirs.oids.slice(0, 120);
    for (let at = 0; at < adding.length; at += 8) {
      const some = adding.slice(at, at + 8);
      const tree = await NoteTree.open(objects, root);
      for (const oid of some) await tree.put(oid, BLOB);
      root = await tree.write(write);
      expect([at, root]).toEqual([at, theirs.add(some)]);
    }
    expect(git(directory, ["ls-tree", root ?? ""])).toContain(" tree ");
    for (let left = adding; left.length > 0;) {
      const some = left.slice(0, 9);
      left = left.slice(some.length);
      const tree = await NoteTree.open(objects, root);
      for (const oid of some) await tree.remove(oid);
      root = await tree.write(write);
      expect([left.length, root]).toEqual([left.length, theirs.remove(some)]);
    }
  });

  it("collapses directories when many notes are removed at once", async () => {
    const { directory, objects, write } = makeNotes();
    const theirs = new GitNotes(directory, 700);
    const random = makeRandom(6);
    for (let round = 0; round < 5; round++) {
      const some = theirs.oids.filter(() => random.below(700) < 110 + 12 * round);
      const before = theirs.add(some);
      const gone = some.filter(() => random.below(2) === 0);
      const tree = await NoteTree.open(objects, before);
      for (const oid of gone) await tree.remove(oid);
      const after = theirs.remove(gone);
      expect([round, await tree.write(write)]).toEqual([round, after]);
      theirs.remove(some.filter((oid) => !gone.includes(oid)));
    }
  });

  it("reads and writes only the directories on the path with a fanout of two, and keeps the others", async () => {
    const { directory, reader, objects, write } = makeNotes();
    // Enough notes that git uses one directory level, and two for the keys that share a prefix.
    const random = makeRandom(8);
    const oids = Array.from({ length: 2400 }, (_, at) => {
      const digits = Buffer.from(random.bytes(20)).toString("hex");
      return at % 4 === 0 ? `00${digits.slice(2)}` : digits;
    });
    const head = "commit refs/notes/commits\ncommitter A <a@b> 1700000000 +0000\ndata 0\n";
    const lines = oids.map((oid) => `M 100644 ${BLOB} ${oid}\n`);
    git(directory, ["fast-import", "--quiet"], { input: head + lines.join("") });
    const theirs = new GitNotes(directory, 1500);
    const [first = "", second = ""] = theirs.oids.filter((oid) => oid.startsWith("00"));
    const before = theirs.add([first]);
    expect(git(directory, ["ls-tree", "-r", "--name-only", before])).toMatch(/^00\/..\/.{36}$/m);
    expect(git(directory, ["ls-tree", "-r", "--name-only", before])).toMatch(/^ff\/.{38}$/m);
    const tree = await NoteTree.open(objects, before);
    expect(await tree.find(first)).toBe(BLOB);
    expect(await tree.find(second)).toBeUndefined();
    reader.reads = 0;
    const edited = await NoteTree.open(objects, before);
    await edited.put(second, BLOB);
    let count = 0;
    const root = await edited.write((content) => {
      count++;
      return write(content);
    });
    expect([count, reader.reads]).toEqual([3, 3]);
    expect(root).toBe(theirs.add([second]));
  });

  it("keeps entries that are not notes, and finds notes at a fanout that git would not choose", async () => {
    const { directory, objects, write } = makeNotes();
    const theirs = new GitNotes(directory, 40);
    const [a = "", b = "", c = "", d = ""] = theirs.oids;
    const deep = `${a.slice(0, 2)}/${a.slice(2, 4)}/${a.slice(4)}`;
    const half = `${b.slice(0, 2)}/${b.slice(2)}`;
    const names = [
      deep,
      half,
      c,
      "README",
      "aa/README",
      "abc/x",
      "ab",
      "zz/x",
      `zz/${"0".repeat(38)}`,
    ];
    const input = names.map((name) => `100644 ${BLOB}\t${name}\n`).join("");
    git(directory, ["update-index", "--index-info"], { input });
    const tree = git(directory, ["write-tree"]);
    const commit = git(directory, ["commit-tree", tree, "-m", "x"]);
    git(directory, ["update-ref", "refs/notes/commits", commit]);
    const notes = await NoteTree.open(objects, tree);
    for (const oid of [a, b, c]) expect(await notes.find(oid)).toBe(BLOB);
    expect(await notes.find(d)).toBeUndefined();
    await notes.put(d, BLOB);
    expect(await notes.write(write)).toBe(theirs.add([d]));
  });

  it("refuses two notes on one object, since one would be lost", async () => {
    const { directory, objects } = makeNotes();
    const [a = ""] = new GitNotes(directory, 3).oids;
    const other = git(directory, ["hash-object", "-w", "--stdin"], { input: "other" });
    const input = `100644 ${BLOB}\t${a}\n100644 ${other}\t${a.slice(0, 2)}/${a.slice(2)}\n`;
    git(directory, ["update-index", "--index-info"], { input });
    const tree = git(directory, ["write-tree"]);
    const find = async () => (await NoteTree.open(objects, tree)).put(a, BLOB);
    await expect(find()).rejects.toMatchObject({ code: "corrupt" });
  });
});
