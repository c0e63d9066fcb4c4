import type { ByteText } from "../byte-text.ts";
import { corrupt, missing, overLimit } from "../error.ts";
import {
  formatTree,
  isTreeMode,
  MODE_FILE,
  MODE_TREE,
  MODE_TYPE,
  parseTree,
} from "../object/tree.ts";
import { EMPTY_TREE_OID, isOid, type Oid, OID_BYTES } from "../oid.ts";
import type { ObjectReader } from "../store.ts";

/** Entries of trees that are read at most: each takes some hundred bytes. */
const ENTRIES_MAX = 200_000;
/** Trees that are read at most: each may be a read of its own. */
const TREES_MAX = 4000;

const OID_DIGITS = 2 * OID_BYTES;

/** A note by the id of what it is on, which is its key. */
interface Leaf {
  readonly kind: "note";
  readonly key: string;
  readonly oid: Oid;
}

/** A directory that nobody has looked into, with the digits that all keys in it begin with. */
interface Subtree {
  readonly kind: "subtree";
  readonly prefix: string;
  readonly oid: Oid;
}

/** Notes by the next digit of their keys. */
interface Inner {
  readonly kind: "inner";
  readonly slots: (Slot | undefined)[];
}

type Slot = Leaf | Subtree | Inner;

/** An entry of the tree that is no note. It stays where it is. */
interface Stranger {
  readonly path: string;
  readonly mode: number;
  readonly oid: Oid;
}

/**
 * The tree that holds the notes of a repository: a blob for each, named by the id of what it is on,
 * in directories of two digits once there are many.
 *
 * Keeps notes as git does, by their digits in a tree of sixteen branches, and writes the trees that
 * git would write, with as many directories. Only those on the way to a change are read.
 *
 * @see git-notes(1); git's notes.c.
 */
export class NoteTree {
  private readonly objects: ObjectReader;
  private readonly root: Inner = makeInner();
  private readonly strangers: Stranger[] = [];
  private entriesRead = 0;
  private treesRead = 0;

  private constructor(objects: ObjectReader) {
    this.objects = objects;
  }

  /** @param treeOid Undefined where there are no notes yet. */
  static async open(objects: ObjectReader, treeOid: Oid | undefined): Promise<NoteTree> {
    const tree = new NoteTree(objects);
    if (treeOid !== undefined) {
      await tree.load({ kind: "subtree", prefix: "", oid: treeOid }, tree.root, 0);
    }
    return tree;
  }

  /** The blob of the note on an object. */
  async find(key: Oid): Promise<Oid | undefined> {
    const { inner, depth } = await this.search(this.root, 0, key);
    const slot = inner.slots[digitOf(key, depth)];
    return slot?.kind === "note" && slot.key === key ? slot.oid : undefined;
  }

  /** Sets the note on an object. */
  async put(key: Oid, oid: Oid): Promise<void> {
    await this.remove(key);
    await this.insert(this.root, 0, { kind: "note", key, oid });
  }

  async remove(key: Oid): Promise<void> {
    const { inner, depth } = await this.search(this.root, 0, key);
    const slot = inner.slots[digitOf(key, depth)];
    if (slot?.kind !== "note" || slot.key !== key) return;
    inner.slots[digitOf(key, depth)] = undefined;
    this.consolidate(key, depth);
  }

  /**
   * Writes the tree.
   *
   * @param write Takes each tree, those below first, and answers its id.
   */
  async write(write: (content: Uint8Array) => Oid): Promise<Oid> {
    const directory = new Directory();
    await this.list(this.root, 0, 0, directory);
    for (const { path, mode, oid } of this.strangers) directory.put(path.split("/"), mode, oid);
    return directory.write(write);
  }

  /** The deepest branching on the way to a key. Directories on the way are read. */
  private async search(
    inner: Inner,
    depth: number,
    key: string,
  ): Promise<{ inner: Inner; depth: number }> {
    for (const digit of [0, digitOf(key, depth)]) {
      const slot = inner.slots[digit];
      if (slot?.kind !== "subtree" || !key.startsWith(slot.prefix)) continue;
      inner.slots[digit] = undefined;
      await this.load(slot, inner, depth);
      return this.search(inner, depth, key);
    }
    const next = inner.slots[digitOf(key, depth)];
    return next?.kind === "inner" ? this.search(next, depth + 1, key) : { inner, depth };
  }

  private async insert(from: Inner, fromDepth: number, entry: Leaf | Subtree): Promise<void> {
    const key = keyOf(entry);
    const { inner, depth } = await this.search(from, fromDepth, key);
    const digit = digitOf(key, depth);
    const slot = inner.slots[digit];
    if (!slot || slot.kind === "inner") {
      inner.slots[digit] = entry;
      return;
    }
    if (slot.kind === "note" && entry.kind === "note" && slot.key === entry.key) {
      if (slot.oid === entry.oid) return;
      throw corrupt(`two notes on ${entry.key}`);
    }
    if (slot.kind === "note" && entry.kind === "subtree" && slot.key.startsWith(entry.prefix)) {
      return this.load(entry, inner, depth);
    }
    const made = makeInner();
    await this.insert(made, depth + 1, slot);
    inner.slots[digit] = made;
    await this.insert(made, depth + 1, entry);
  }

  /** Reads a directory into the branching that it hangs on. */
  private async load({ prefix, oid }: Subtree, inner: Inner, depth: number): Promise<void> {
    if (oid === EMPTY_TREE_OID) return;
    if (++this.treesRead > TREES_MAX) throw overLimit("too many directories of notes");
    const found = await this.objects.readObject(oid);
    if (found?.kind !== "tree") throw missing(`tree ${oid}`);
    const entries = parseTree(found.content);
    this.entriesRead += entries.length;
    if (this.entriesRead > ENTRIES_MAX) throw overLimit("too many notes in one directory");
    for (const entry of entries) {
      const key = prefix + entry.name.toLowerCase();
      const isHex = /^[0-9a-fA-F]+$/.test(entry.name);
      const isBlob = (entry.mode & MODE_TYPE) === (MODE_FILE & MODE_TYPE);
      if (isHex && isBlob && isOid(key)) {
        await this.insert(inner, depth, { kind: "note", key, oid: entry.oid });
      } else if (
        isHex &&
        isTreeMode(entry.mode) &&
        entry.name.length === 2 &&
        key.length < OID_DIGITS
      ) {
        await this.insert(inner, depth, { kind: "subtree", prefix: key, oid: entry.oid });
      } else {
        const path = `${cut(prefix, prefix.length / 2)}${entry.name}`;
        this.strangers.push({ path, mode: entry.mode, oid: entry.oid });
      }
    }
  }

  /** What stands in a place when no directory does. */
  private async unpack(inner: Inner, digit: number, depth: number): Promise<Slot | undefined> {
    for (let slot = inner.slots[digit]; slot?.kind === "subtree"; slot = inner.slots[digit]) {
      inner.slots[digit] = undefined;
      await this.load(slot, inner, depth);
    }
    return inner.slots[digit];
  }

  /** Draws branchings together that hold a single note now. */
  private consolidate(key: string, depth: number): void {
    const way = [this.root];
    for (let at = 0; at < depth; at++) {
      way.push((way[at] as Inner).slots[digitOf(key, at)] as Inner);
    }
    for (let at = depth; at > 0; at--) {
      const [only, ...others] = (way[at] as Inner).slots.filter((slot) => slot !== undefined);
      if (others.length > 0 || (only && only.kind !== "note")) return;
      (way[at - 1] as Inner).slots[digitOf(key, at - 1)] = only;
    }
  }

  /**
   * Puts what lies below a branching into directories.
   *
   * @param fanout How many directories a note lies in.
   */
  private async list(
    inner: Inner,
    depth: number,
    fanout: number,
    directory: Directory,
  ): Promise<void> {
    const isFull = inner.slots.every((slot) => slot && slot.kind !== "note");
    const mayGrow = depth % 2 === 0 && depth <= 2 * fanout;
    const levels = mayGrow && isFull ? fanout + 1 : fanout;
    for (let digit = 0; digit < 16; digit++) {
      const slot =
        depth >= 2 * levels ? await this.unpack(inner, digit, depth) : inner.slots[digit];
      if (slot?.kind === "inner") await this.list(slot, depth + 1, levels, directory);
      else if (slot?.kind === "note") {
        directory.put(cut(slot.key, levels).split("/"), MODE_FILE, slot.oid);
      } else if (slot) {
        directory.put(cut(slot.prefix, slot.prefix.length / 2 - 1).split("/"), MODE_TREE, slot.oid);
      }
    }
  }
}

const makeInner = (): Inner => ({
  kind: "inner",
  slots: Array.from({ length: 16 }, () => undefined),
});

const digitOf = (key: string, depth: number): number => Number.parseInt(key.charAt(depth), 16);

/** Where an entry belongs. Zeros stand for the digits that a directory leaves open. */
const keyOf = (entry: Leaf | Subtree): string =>
  entry.kind === "note" ? entry.key : entry.prefix.padEnd(OID_DIGITS, "0");

/** A key as a path through `levels` directories. */
const cut = (key: string, levels: number): string => {
  const directories = Array.from(
    { length: levels },
    (_, at) => `${key.slice(2 * at, 2 * at + 2)}/`,
  );
  return `${directories.join("")}${key.slice(2 * levels)}`;
};

/** A tree that is put together from paths. */
class Directory {
  private readonly entries = new Map<string, { mode: number; oid: Oid } | Directory>();

  put([name = "", ...rest]: string[], mode: number, oid: Oid): void {
    if (rest.length === 0) {
      this.entries.set(name, { mode, oid });
      return;
    }
    const known = this.entries.get(name);
    const below = known instanceof Directory ? known : new Directory();
    this.entries.set(name, below);
    below.put(rest, mode, oid);
  }

  write(write: (content: Uint8Array) => Oid): Oid {
    const entries = Array.from(this.entries, ([name, entry]) => ({
      name: name as ByteText,
      ...(entry instanceof Directory ? { mode: MODE_TREE, oid: entry.write(write) } : entry),
    }));
    return write(formatTree(entries));
  }
}
