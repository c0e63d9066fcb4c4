import type { ByteText } from "./byte-text.ts";
import { missing, overLimit } from "./error.ts";
import { EMPTY_TREE_OID, type Oid } from "./oid.ts";
import type { ObjectReader } from "./store.ts";
import { formatTree, isTreeMode, MODE_TREE, parseTree, type TreeEntry } from "./object/tree.ts";

/** Maximum number of tree entries that one draft reads: each takes some hundred bytes. */
const ENTRIES_MAX = 200_000;
/** Maximum number of trees that one draft reads: each may be a separate read of the store. */
const TREES_MAX = 4000;

/**
 * Receives a new tree and the tree it was edited from, and returns its id, as `PackBuilder.add`
 * does.
 */
type TreeSink = (content: Uint8Array, baseOid: Oid | undefined) => Oid;

/** The entry at a path. A directory changed in a draft has no id until the draft is written. */
export interface DraftEntry {
  readonly mode: number;
  readonly oid: Oid;
}

/**
 * An entry that conflicts with a file at a path: a file where a directory is needed, or a directory
 * at the path itself.
 */
export interface Obstacle {
  readonly mode: number;
  /** Number of leading names of the path that lead to the entry. */
  readonly nameCount: number;
}

/**
 * A tree edited path by path. Each edit sees the earlier ones.
 *
 * Only the directories on edited paths are read, each once. Git has no empty directories, so a
 * directory that loses its last entry is removed.
 *
 * SECURITY: names are looked up literally, and symlinks are not followed. The caller validates
 * names.
 */
export class TreeDraft {
  private readonly objects: ObjectReader;
  private readonly root: Directory;
  private entriesRead = 0;
  private treesRead = 0;

  /** @param rootOid Undefined for an empty tree. */
  constructor(objects: ObjectReader, rootOid: Oid | undefined) {
    this.objects = objects;
    this.root = new Directory(rootOid);
  }

  /** @returns Undefined if there is no entry. A directory is returned with its original id. */
  async find(names: readonly ByteText[]): Promise<DraftEntry | undefined> {
    const above = await this.descend(names.slice(0, -1));
    return above?.entries.get(names.at(-1) as ByteText);
  }

  /**
   * Returns the entry that prevents a file at a path; undefined if the path is free, or holds a
   * file or symlink.
   */
  async findObstacle(names: readonly ByteText[]): Promise<Obstacle | undefined> {
    let at = await this.load(this.root);
    for (const [above, name] of names.entries()) {
      const entry = at.entries.get(name);
      if (!entry) return undefined;
      const isLast = above === names.length - 1;
      if (isTreeMode(entry.mode) === isLast) return { mode: entry.mode, nameCount: above + 1 };
      if (!isLast) at = await this.load(at.child(name, entry.oid));
    }
    return undefined;
  }

  /**
   * Adds a file, or replaces the one at the path. The path must have no obstacle (`findObstacle`).
   */
  async put(names: readonly ByteText[], { mode, oid }: DraftEntry): Promise<void> {
    let at = await this.load(this.root);
    at.isChanged = true;
    for (const name of names.slice(0, -1)) {
      let entry = at.entries.get(name);
      if (!entry) {
        entry = { mode: MODE_TREE, name, oid: EMPTY_TREE_OID };
        at.entries.set(name, entry);
      }
      at = await this.load(at.child(name, entry.oid));
      at.isChanged = true;
    }
    const name = names.at(-1) as ByteText;
    at.entries.set(name, { mode, name, oid });
  }

  /** Removes the file at a path. It must exist and must not be a directory. */
  async remove(names: readonly ByteText[]): Promise<void> {
    const path: Directory[] = [];
    for (let length = 0; length < names.length; length++) {
      const directory = await this.descend(names.slice(0, length));
      if (!directory) return;
      path.push(directory);
    }
    for (const [above, directory] of [...path.entries()].toReversed()) {
      directory.isChanged = true;
      const name = names[above] as ByteText;
      const below = path[above + 1];
      if (!below || below.entries.size === 0) directory.remove(name);
    }
  }

  /**
   * Writes the changed trees and returns the id of the root.
   *
   * @param write Receives each new tree, subtrees before their parents.
   */
  async write(write: TreeSink): Promise<Oid> {
    return this.writeDirectory(await this.load(this.root), write);
  }

  private writeDirectory(directory: Directory, write: TreeSink): Oid {
    if (!directory.isChanged && directory.oid !== undefined) return directory.oid;
    for (const [name, child] of directory.children) {
      const oid = this.writeDirectory(child, write);
      directory.entries.set(name, { mode: MODE_TREE, name, oid });
    }
    return write(formatTree([...directory.entries.values()]), directory.oid);
  }

  /** Returns the directory at a path, or undefined. */
  private async descend(names: readonly ByteText[]): Promise<Directory | undefined> {
    let at = await this.load(this.root);
    for (const name of names) {
      const entry = at.entries.get(name);
      if (!entry || !isTreeMode(entry.mode)) return undefined;
      at = await this.load(at.child(name, entry.oid));
    }
    return at;
  }

  private async load(directory: Directory): Promise<Directory> {
    const { oid } = directory;
    if (directory.isLoaded) return directory;
    directory.isLoaded = true;
    if (oid === undefined || oid === EMPTY_TREE_OID) return directory;
    if (++this.treesRead > TREES_MAX) {
      throw overLimit(`a change may read ${TREES_MAX} directories at most`);
    }
    const found = await this.objects.readObject(oid);
    if (found?.kind !== "tree") throw missing(`tree ${oid}`);
    const entries = parseTree(found.content);
    this.entriesRead += entries.length;
    if (this.entriesRead > ENTRIES_MAX) {
      throw overLimit(`the directories of a change may have ${ENTRIES_MAX} entries at most`);
    }
    for (const entry of entries) directory.entries.set(entry.name, entry);
    return directory;
  }
}

class Directory {
  /** The original id; undefined for a new directory. */
  readonly oid: Oid | undefined;
  readonly entries = new Map<ByteText, TreeEntry>();
  /** The subdirectories that were accessed. */
  readonly children = new Map<ByteText, Directory>();
  isLoaded = false;
  isChanged = false;

  constructor(oid: Oid | undefined) {
    this.oid = oid;
  }

  child(name: ByteText, oid: Oid): Directory {
    const known = this.children.get(name);
    if (known) return known;
    const child = new Directory(oid);
    this.children.set(name, child);
    return child;
  }

  remove(name: ByteText): void {
    this.entries.delete(name);
    this.children.delete(name);
  }
}
