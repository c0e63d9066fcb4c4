import { describe, expect, it, vi } from "vitest";

import { hashObject } from "../../../src/git/object/hash-object.ts";
import { NoteTree } from "../../../src/git/notes/note-tree.ts";
import type { ObjectReader, StoredObject } from "../../../src/git/store.ts";
import { git, makeDirectory } from "../support/git.ts";
import { makeRandom } from "../support/random.ts";
import { gitReader } from "../support/sidecars.ts";

// Each step starts git several times.
vi.setConfig({ testTimeout: 60_000 });

const BLOB = hashObject("blob", new Uint8Array());

/** A repository of git's, and what we have written beside it. */
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

/** Notes on objects that need not be there, as `git notes add` and `remove` make them. */
class ByGit {
  private readonly directory: string;
  /** Ids of objects whose ids are spread as they come. */
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
    // In no order: by the sum of some digits.
    this.oids = listed.split("\n").toSorted((a, b) => (a.slice(9, 16) < b.slice(9, 16) ? -1 : 1));
  }

  /** Notes of the empty blob on each, in one go; the tree afterwards. */
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
  it("writes the trees that git writes, as notes come and go", async () => {
    const { directory, objects, write } = makeNotes();
    const theirs = new ByGit(directory, 700);
    let root: string | undefined;
    // git's own structure grows one directory deep between some 60 and 100 notes.
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

  it("draws directories together when many notes go at once", async () => {
    const { directory, objects, write } = makeNotes();
    const theirs = new ByGit(directory, 700);
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

  it("reads and writes two directories where there are many, and keeps the others", async () => {
    const { directory, reader, objects, write } = makeNotes();
    // So many that git keeps them in a directory, and those that begin alike in two.
    const random = makeRandom(8);
    const oids = Array.from({ length: 2400 }, (_, at) => {
      const digits = Buffer.from(random.bytes(20)).toString("hex");
      return at % 4 === 0 ? `00${digits.slice(2)}` : digits;
    });
    const head = "commit refs/notes/commits\ncommitter A <a@b> 1700000000 +0000\ndata 0\n";
    const lines = oids.map((oid) => `M 100644 ${BLOB} ${oid}\n`);
    git(directory, ["fast-import", "--quiet"], { input: head + lines.join("") });
    const theirs = new ByGit(directory, 1500);
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

  it("keeps what is no note, and finds notes in directories that git would not make", async () => {
    const { directory, objects, write } = makeNotes();
    const theirs = new ByGit(directory, 40);
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

  it("refuses two notes on one object, of which it would lose one", async () => {
    const { directory, objects } = makeNotes();
    const [a = ""] = new ByGit(directory, 3).oids;
    const other = git(directory, ["hash-object", "-w", "--stdin"], { input: "other" });
    const input = `100644 ${BLOB}\t${a}\n100644 ${other}\t${a.slice(0, 2)}/${a.slice(2)}\n`;
    git(directory, ["update-index", "--index-info"], { input });
    const tree = git(directory, ["write-tree"]);
    const find = async () => (await NoteTree.open(objects, tree)).put(a, BLOB);
    await expect(find()).rejects.toMatchObject({ code: "corrupt" });
  });
});
