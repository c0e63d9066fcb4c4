import { describe, expect, it } from "vitest";

import { encodeText } from "../../src/git/byte-text.ts";
import { hashObject } from "../../src/git/object/hash-object.ts";
import { formatTree, MODE_FILE, MODE_SYMLINK } from "../../src/git/object/tree.ts";
import { TreeDraft } from "../../src/git/tree-draft.ts";
import type { ObjectReader, StoredObject } from "../../src/git/store.ts";
import { git, makeDirectory } from "./support/git.ts";
import { makeRandom } from "./support/random.ts";

const BLOB = hashObject("blob", new Uint8Array());
const path = (text: string) => text.split("/").map(encodeText);

/** Makes a reader of the written trees that counts its reads. */
function makeObjects() {
  const written = new Map<string, StoredObject>();
  const reader = { reads: 0 };
  const objects: ObjectReader = {
    readObject: async (oid) => {
      reader.reads++;
      return written.get(oid);
    },
  };
  const write = (content: Uint8Array): string => {
    const oid = hashObject("tree", content);
    written.set(oid, { kind: "tree", content });
    return oid;
  };
  return { reader, objects, write };
}

describe("TreeDraft", () => {
  it("writes the same trees as git's index after any edits", async () => {
    const directory = makeDirectory();
    git(directory, ["init", "--quiet"]);
    git(directory, ["hash-object", "-w", "--stdin"]);
    const random = makeRandom(3);
    const names = ["a", "a.b", "a-b", "b", "c"];
    const pick = (): string =>
      Array.from({ length: 1 + random.below(3) }, () => random.pick(names)).join("/");
    for (let round = 0; round < 15; round++) {
      const { objects, write } = makeObjects();
      let root: string | undefined;
      git(directory, ["read-tree", "--empty"]);
      for (let commit = 0; commit < 3; commit++) {
        const draft = new TreeDraft(objects, root);
        for (let edit = 0; edit < 12; edit++) {
          const name = pick();
          const found = await draft.find(path(name));
          if (found && found.mode === MODE_FILE && random.below(2) === 0) {
            await draft.remove(path(name));
            git(directory, ["update-index", "--force-remove", name]);
          } else if (!(await draft.findObstacle(path(name)))) {
            await draft.put(path(name), { mode: MODE_FILE, oid: BLOB });
            git(directory, ["update-index", "--add", "--cacheinfo", `100644,${BLOB},${name}`]);
          }
        }
        root = await draft.write(write);
        expect(root).toBe(git(directory, ["write-tree"]));
      }
    }
  });

  it("finds the entry that prevents a file at a path", async () => {
    const { objects } = makeObjects();
    const draft = new TreeDraft(objects, undefined);
    await draft.put(path("a/b"), { mode: MODE_FILE, oid: BLOB });
    await draft.put(path("l"), { mode: MODE_SYMLINK, oid: BLOB });
    const find = (text: string) => draft.findObstacle(path(text));
    expect(await find("a")).toEqual({ mode: 0o040000, nameCount: 1 });
    expect(await find("a/b/c/d")).toEqual({ mode: MODE_FILE, nameCount: 2 });
    expect(await find("l/x")).toEqual({ mode: MODE_SYMLINK, nameCount: 1 });
    for (const free of ["a/b", "a/c", "l", "b", "b/c"]) expect(await find(free)).toBeUndefined();
    await draft.remove(path("a/b"));
    expect(await find("a")).toBeUndefined();
    expect(await draft.find(path("a"))).toBeUndefined();
  });

  it("reads each tree on the path once, and writes only the changed trees", async () => {
    const { reader, objects, write } = makeObjects();
    const first = new TreeDraft(objects, undefined);
    for (const name of ["a/b/c", "a/d/e", "f/g"]) {
      await first.put(path(name), { mode: MODE_FILE, oid: BLOB });
    }
    const root = await first.write(write);
    const draft = new TreeDraft(objects, root);
    reader.reads = 0;
    for (const name of ["x", "y"]) {
      expect(await draft.findObstacle(path(`a/b/${name}`))).toBeUndefined();
      await draft.put(path(`a/b/${name}`), { mode: MODE_FILE, oid: BLOB });
    }
    await draft.find(path("a/d/e"));
    expect(reader.reads).toBe(4);
    let written = 0;
    await draft.write((content) => {
      written++;
      return write(content);
    });
    expect(written).toBe(3);
    expect(await new TreeDraft(objects, root).write(() => "none")).toBe(root);
  });

  // SECURITY: memory and reads are bounded for any pushed tree.
  it("refuses to read too many or too large directories", async () => {
    const { objects, write } = makeObjects();
    const many = Array.from({ length: 150_000 }, (_, at) => at.toString(36).padStart(4, "0"));
    const entries = many.map((name) => ({ mode: MODE_FILE, name: encodeText(name), oid: BLOB }));
    const wide = write(formatTree(entries));
    const tree = { mode: 0o040000, oid: wide };
    const root = write(
      formatTree([
        { ...tree, name: encodeText("a") },
        { ...tree, name: encodeText("b") },
      ]),
    );
    const draft = new TreeDraft(objects, root);
    await draft.find(path("a/x"));
    await expect(draft.find(path("b/x"))).rejects.toMatchObject({
      code: "limit",
      message: "the directories of a change may have 200000 entries at most",
    });
    const lost = new TreeDraft(objects, "1".repeat(40));
    await expect(lost.find(path("a"))).rejects.toMatchObject({ code: "missing" });
  });
});
