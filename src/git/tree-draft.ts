import type { ByteText } from "./byte-text.ts";
import { missing, overLimit } from "./error.ts";
import { EMPTY_TREE_OID, type Oid } from "./oid.ts";
import type { ObjectReader } from "./store.ts";
import { formatTree, isTreeMode, MODE_TREE, parseTree, type TreeEntry } from "./object/tree.ts";

/** Entries of trees that one draft reads at most: each takes some hundred bytes. */
const ENTRIES_MAX = 200_000;
/** Trees that one draft reads at most: each may be a read of its own. */
const TREES_MAX = 4000;

/** Takes a new tree and answers its id: `PackBuilder.add`, with the tree it was made from. */
type TreeSink = (content: Uint8Array, baseOid: Oid | undefined) => Oid;

/** What stands at a path. A directory of a draft has no id of its own yet. */
export interface DraftEntry {
  readonly mode: number;
  readonly oid: Oid;
}

/** What stands in the way of a path: a file where it needs a directory, or a directory at its end. */
export interface Obstacle {
  readonly mode: number;
  /** Of the names of the path, how many lead to it. */
  readonly nameCount: number;
}

/**
 * A tree that is edited path by path, each edit seeing those before it.
 *
 * Only the trees on the way are read, each once. As git has no empty directories, one that loses
 * its last entry goes away.
 *
 * SECURITY: names are looked up as they are, and a symlink is an end. What may be a name is the
 * caller's to check.
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

  /** @returns Undefined where nothing stands. The id of a directory is what it was at first. */
  async find(names: readonly ByteText[]): Promise<DraftEntry | undefined> {
    const above = await this.descend(names.slice(0, -1));
    return above?.entries.get(names.at(-1) as ByteText);
  }

  /** What keeps a file from being put at a path: nothing, where a file or symlink is. */
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

  /** Puts a file where nothing is in the way (`findObstacle`), or where there is one. */
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

  /** Removes what stands at a path, which must be there and no directory. */
  async remove(names: readonly ByteText[]): Promise<void> {
    const way: Directory[] = [];
    for (let length = 0; length < names.length; length++) {
      const directory = await this.descend(names.slice(0, length));
      if (!directory) return;
      way.push(directory);
    }
    for (const [above, directory] of [...way.entries()].toReversed()) {
      directory.isChanged = true;
      const name = names[above] as ByteText;
      const below = way[above + 1];
      if (!below || below.entries.size === 0) directory.remove(name);
    }
  }

  /**
   * Writes what has changed, and answers the id of the root.
   *
   * @param write Takes each new tree, those below first.
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

  /** The directory at a path, or undefined. */
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
    if (++this.treesRead > TREES_MAX) throw overLimit("too many directories are changed at once");
    const found = await this.objects.readObject(oid);
    if (found?.kind !== "tree") throw missing(`tree ${oid}`);
    const entries = parseTree(found.content);
    this.entriesRead += entries.length;
    if (this.entriesRead > ENTRIES_MAX) throw overLimit("the directories are too large");
    for (const entry of entries) directory.entries.set(entry.name, entry);
    return directory;
  }
}

class Directory {
  /** As it was at first; undefined if it was not there. */
  readonly oid: Oid | undefined;
  readonly entries = new Map<ByteText, TreeEntry>();
  /** Those of the directories in it that were looked into. */
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
