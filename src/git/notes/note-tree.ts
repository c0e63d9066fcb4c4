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

/** Maximum number of tree entries read: each takes some hundred bytes. */
const ENTRIES_MAX = 200_000;
/** Maximum number of trees read: each may be a separate read of the store. */
const TREES_MAX = 4000;

const OID_DIGITS = 2 * OID_BYTES;

/** A note. Its key is the id of the annotated object. */
interface Leaf {
  readonly kind: "note";
  readonly key: string;
  readonly oid: Oid;
}

/** A directory that is not loaded yet, with the hex digits that all keys in it start with. */
interface Subtree {
  readonly kind: "subtree";
  readonly prefix: string;
  readonly oid: Oid;
}

/** A node of the trie: its slots by the next hex digit of the key. */
interface Inner {
  readonly kind: "inner";
  readonly slots: (Slot | undefined)[];
}

type Slot = Leaf | Subtree | Inner;

/** An entry of the notes tree that is not a note. It is written back at the same path. */
interface OtherEntry {
  readonly path: string;
  readonly mode: number;
  readonly oid: Oid;
}

/**
 * The tree of a notes ref: one blob for each note, named by the id of the annotated object, in
 * directories of two digits once there are many notes.
 *
 * Keeps notes as git does, in a trie with sixteen branches by hex digit, and writes the same trees
 * as git, with the same fanout. Only the directories on the path to a changed note are read.
 *
 * @see git-notes(1); git's notes.c.
 */
export class NoteTree {
  private readonly objects: ObjectReader;
  private readonly root: Inner = makeInner();
  private readonly otherEntries: OtherEntry[] = [];
  private entriesRead = 0;
  private treesRead = 0;

  private constructor(objects: ObjectReader) {
    this.objects = objects;
  }

  /** @param treeOid Undefined if there are no notes yet. */
  static async open(objects: ObjectReader, treeOid: Oid | undefined): Promise<NoteTree> {
    const tree = new NoteTree(objects);
    if (treeOid !== undefined) {
      await tree.load({ kind: "subtree", prefix: "", oid: treeOid }, tree.root, 0);
    }
    return tree;
  }

  /** Returns the blob of the note on an object, undefined if it has none. */
  async find(key: Oid): Promise<Oid | undefined> {
    const { inner, depth } = await this.search(this.root, 0, key);
    const slot = inner.slots[digitOf(key, depth)];
    return slot?.kind === "note" && slot.key === key ? slot.oid : undefined;
  }

  /** Sets or replaces the note on an object. */
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
   * Writes the tree and returns its id.
   *
   * @param write Receives each tree, subtrees before their parents, and returns its id.
   */
  async write(write: (content: Uint8Array) => Oid): Promise<Oid> {
    const directory = new Directory();
    await this.list(this.root, 0, 0, directory);
    for (const { path, mode, oid } of this.otherEntries) directory.put(path.split("/"), mode, oid);
    return directory.write(write);
  }

  /** Returns the deepest node on the path to a key. Loads the directories on the path. */
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
    const split = makeInner();
    await this.insert(split, depth + 1, slot);
    inner.slots[digit] = split;
    await this.insert(split, depth + 1, entry);
  }

  /** Loads a directory into the node that refers to it. */
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
        const path = `${toPath(prefix, prefix.length / 2)}${entry.name}`;
        this.otherEntries.push({ path, mode: entry.mode, oid: entry.oid });
      }
    }
  }

  /** Loads the directory in a slot, if there is one, and returns the slot's new value. */
  private async unpack(inner: Inner, digit: number, depth: number): Promise<Slot | undefined> {
    for (let slot = inner.slots[digit]; slot?.kind === "subtree"; slot = inner.slots[digit]) {
      inner.slots[digit] = undefined;
      await this.load(slot, inner, depth);
    }
    return inner.slots[digit];
  }

  /** Collapses nodes on the path to a removed note that hold a single note now. */
  private consolidate(key: string, depth: number): void {
    const nodes = [this.root];
    for (let at = 0; at < depth; at++) {
      nodes.push((nodes[at] as Inner).slots[digitOf(key, at)] as Inner);
    }
    for (let at = depth; at > 0; at--) {
      const [only, ...others] = (nodes[at] as Inner).slots.filter((slot) => slot !== undefined);
      if (others.length > 0 || (only && only.kind !== "note")) return;
      (nodes[at - 1] as Inner).slots[digitOf(key, at - 1)] = only;
    }
  }

  /**
   * Adds the notes below a node to a directory.
   *
   * @param fanout Number of directory levels above a note.
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
        directory.put(toPath(slot.key, levels).split("/"), MODE_FILE, slot.oid);
      } else if (slot) {
        directory.put(
          toPath(slot.prefix, slot.prefix.length / 2 - 1).split("/"),
          MODE_TREE,
          slot.oid,
        );
      }
    }
  }
}

const makeInner = (): Inner => ({
  kind: "inner",
  slots: Array.from({ length: 16 }, () => undefined),
});

const digitOf = (key: string, depth: number): number => Number.parseInt(key.charAt(depth), 16);

/** The key of a trie entry. A directory's prefix is padded with zeros. */
const keyOf = (entry: Leaf | Subtree): string =>
  entry.kind === "note" ? entry.key : entry.prefix.padEnd(OID_DIGITS, "0");

/** Formats a key as a path through `levels` directories. */
const toPath = (key: string, levels: number): string => {
  const directories = Array.from(
    { length: levels },
    (_, at) => `${key.slice(2 * at, 2 * at + 2)}/`,
  );
  return `${directories.join("")}${key.slice(2 * levels)}`;
};

/** A tree built from paths. */
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
