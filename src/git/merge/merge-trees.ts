import type { ByteText } from "../byte-text.ts";
import { isBinary } from "../diff/line-diff.ts";
import { DEFAULT_RENAME_OPTIONS, findRenames, type RenameOptions } from "../diff/renames.ts";
import { diffTrees, type PathEntry } from "../diff/tree-diff.ts";
import { missing } from "../error.ts";
import { editTree, type TreeEdit, type TreeSink } from "../object/edit-tree.ts";
import { isTreeMode, MODE_FILE, MODE_TYPE, parseTree, type TreeEntry } from "../object/tree.ts";
import type { Oid } from "../oid.ts";
import type { ObjectReader } from "../store.ts";
import { mergedText, mergeLines } from "./merge-lines.ts";

/** Why a path could not be merged. */
interface MergeConflict {
  readonly path: ByteText;
  readonly kind:
    | "content" // both sides changed the same lines
    | "binary" // both sides changed what has no lines
    | "mode" // both sides changed the mode, or the kind of entry
    | "modify-delete" // one side changed what the other deleted
    | "add-add" // both sides added different files of one name
    | "rename-rename" // both sides renamed a file, differently
    | "path"; // a file where the other side has a directory, or another file
}

export type TreeMerge =
  | { readonly kind: "merged"; readonly treeOid: Oid }
  | { readonly kind: "conflicts"; readonly conflicts: readonly MergeConflict[] };

export interface MergeOptions {
  readonly changesMax: number;
  /** Largest content that is merged by lines, in bytes. */
  readonly contentBytesMax: number;
  readonly renames?: RenameOptions;
}

/** Takes a merged blob and answers its id. */
export type BlobSink = (content: Uint8Array, baseOid: Oid) => Oid;

/**
 * Merges what two trees made of a third, files by lines, and follows files that one side renamed.
 *
 * Nothing is written unless the merge succeeds, other than merged blobs, which nothing refers to
 * then.
 *
 * @throws GitError `missing` if an object does not exist, `limit` for more changes than allowed.
 */
export async function mergeTrees(
  objects: ObjectReader,
  baseOid: Oid | undefined,
  ourOid: Oid,
  theirOid: Oid,
  options: MergeOptions,
  writeBlob: BlobSink,
  writeTree: TreeSink,
): Promise<TreeMerge> {
  const merge = new Merge(objects, options, writeBlob);
  await merge.run(baseOid, ourOid, theirOid);
  if (merge.conflicts.length > 0) return { kind: "conflicts", conflicts: merge.conflicts };
  return { kind: "merged", treeOid: await editTree(objects, ourOid, merge.edits, writeTree) };
}

/** What one side made of the files of the base. */
interface Side {
  /** By the path in the base: the file now, undefined if it is deleted. */
  readonly changed: ReadonlyMap<string, PathEntry | undefined>;
  readonly old: ReadonlyMap<string, PathEntry>;
  readonly added: ReadonlyMap<string, PathEntry>;
}

class Merge {
  readonly conflicts: MergeConflict[] = [];
  /** What must change in our tree. */
  readonly edits = new Map<ByteText, TreeEdit>();
  /** Paths of files that our side has not, or has elsewhere. */
  private readonly placed = new Set<ByteText>();
  private readonly trees = new Map<Oid, readonly TreeEntry[]>();
  private readonly objects: ObjectReader;
  private readonly options: MergeOptions;
  private readonly writeBlob: BlobSink;

  constructor(objects: ObjectReader, options: MergeOptions, writeBlob: BlobSink) {
    this.objects = objects;
    this.options = options;
    this.writeBlob = writeBlob;
  }

  async run(baseOid: Oid | undefined, ourOid: Oid, theirOid: Oid): Promise<void> {
    const ours = await this.readSide(baseOid, ourOid);
    const theirs = await this.readSide(baseOid, theirOid);
    for (const [path, theirEntry] of theirs.changed) {
      const base = theirs.old.get(path) as PathEntry;
      // What our side left alone is as it was in the base.
      const ourEntry = ours.changed.has(path) ? ours.changed.get(path) : base;
      await this.mergeFile(base, ourEntry, theirEntry, ours.changed.has(path));
    }
    for (const [path, entry] of theirs.added) this.mergeAdded(path, entry, ours);
    await this.refuseCollisions(ourOid);
  }

  private async readSide(baseOid: Oid | undefined, oid: Oid): Promise<Side> {
    const changes = await diffTrees(this.objects, baseOid, oid, this.options);
    const renames = this.options.renames ?? DEFAULT_RENAME_OPTIONS;
    const changed = new Map<string, PathEntry | undefined>();
    const old = new Map<string, PathEntry>();
    const added = new Map<string, PathEntry>();
    for (const change of await findRenames(this.objects, changes, renames)) {
      if (change.kind === "added") {
        added.set(change.new.path, change.new);
        continue;
      }
      old.set(change.old.path, change.old);
      changed.set(change.old.path, change.kind === "deleted" ? undefined : change.new);
    }
    return { changed, old, added };
  }

  /** Merges a file of the base that their side changed. */
  private async mergeFile(
    base: PathEntry,
    ours: PathEntry | undefined,
    theirs: PathEntry | undefined,
    hasOurs: boolean,
  ): Promise<void> {
    if (!ours || !theirs) {
      if (!ours && !theirs) return;
      // Deleting a file that the other side left alone is no conflict; moving it is a change.
      if (ours && !hasOurs) this.edits.set(ours.path, undefined);
      else this.refuse(base.path, "modify-delete");
      return;
    }
    const isOurMove = ours.path !== base.path;
    const isTheirMove = theirs.path !== base.path;
    if (isOurMove && isTheirMove && ours.path !== theirs.path) {
      this.refuse(base.path, "rename-rename");
      return;
    }
    const path = isTheirMove ? theirs.path : ours.path;
    const mode = pick(base.mode, ours.mode, theirs.mode);
    if (mode === undefined) {
      this.refuse(path, "mode");
      return;
    }
    const oid =
      pick(base.oid, ours.oid, theirs.oid) ?? (await this.mergeContent(path, base, ours, theirs));
    if (oid === undefined) return;
    if (path !== ours.path) {
      this.edits.set(ours.path, undefined);
      this.placed.add(path);
    }
    this.edits.set(path, { mode, oid });
  }

  private async mergeContent(
    path: ByteText,
    base: PathEntry,
    ours: PathEntry,
    theirs: PathEntry,
  ): Promise<Oid | undefined> {
    const contents: Uint8Array[] = [];
    for (const entry of [base, ours, theirs]) {
      if (!isFile(entry)) {
        this.refuse(path, "content");
        return undefined;
      }
      const found = await this.objects.readObject(entry.oid);
      if (!found) throw missing(`blob ${entry.oid}`);
      contents.push(found.content);
    }
    const isText = contents.every(
      (content) => content.length <= this.options.contentBytesMax && !isBinary(content),
    );
    if (!isText) {
      this.refuse(path, "binary");
      return undefined;
    }
    const [baseText, ourText, theirText] = contents as [Uint8Array, Uint8Array, Uint8Array];
    const merge = mergeLines(baseText, ourText, theirText);
    if (merge.conflicts > 0) {
      this.refuse(path, "content");
      return undefined;
    }
    return this.writeBlob(mergedText(merge), ours.oid);
  }

  /** Takes a file that their side added. */
  private mergeAdded(path: string, entry: PathEntry, ours: Side): void {
    const own = ours.added.get(path);
    if (!own) {
      this.edits.set(entry.path, { mode: entry.mode, oid: entry.oid });
      this.placed.add(entry.path);
    } else if (own.oid !== entry.oid || own.mode !== entry.mode) {
      this.refuse(entry.path, "add-add");
    }
  }

  /** Refuses files that would stand where our side, or the merge itself, has something else. */
  private async refuseCollisions(ourOid: Oid): Promise<void> {
    for (const [path, edit] of this.edits) {
      if (!edit) continue;
      for (const above of pathsAbove(path)) {
        if (this.edits.get(above as ByteText)) this.refuse(path, "path");
      }
      if (await this.isTaken(ourOid, path)) this.refuse(path, "path");
    }
  }

  /** True if our tree keeps something at `path`, or a file on the way to it. */
  private async isTaken(ourOid: Oid, path: ByteText): Promise<boolean> {
    let treeOid = ourOid;
    for (const at of [...pathsAbove(path), path]) {
      const name = at.slice(at.lastIndexOf("/") + 1);
      const entry = (await this.readTree(treeOid)).find((candidate) => candidate.name === name);
      if (!entry) return false;
      if (!isTreeMode(entry.mode)) {
        if (at === path) return this.placed.has(path);
        return !(this.edits.has(at as ByteText) && !this.edits.get(at as ByteText));
      }
      treeOid = entry.oid;
    }
    // A directory is in the way unless all its files go.
    const { changesMax } = this.options;
    const files = await diffTrees(this.objects, undefined, treeOid, { changesMax });
    return files.some((file) => {
      const below = file.kind === "added" ? (`${path}/${file.new.path}` as ByteText) : path;
      return !this.edits.has(below) || this.edits.get(below) !== undefined;
    });
  }

  private async readTree(treeOid: Oid): Promise<readonly TreeEntry[]> {
    const known = this.trees.get(treeOid);
    if (known) return known;
    const found = await this.objects.readObject(treeOid);
    if (found?.kind !== "tree") throw missing(`tree ${treeOid}`);
    const entries = parseTree(found.content);
    this.trees.set(treeOid, entries);
    return entries;
  }

  private refuse(path: ByteText, kind: MergeConflict["kind"]): void {
    this.conflicts.push({ path, kind });
  }
}

const isFile = (entry: PathEntry): boolean => (entry.mode & MODE_TYPE) === (MODE_FILE & MODE_TYPE);

/** The directories on the way to a path, outermost first. */
function pathsAbove(path: string): string[] {
  const above: string[] = [];
  for (let slash = path.indexOf("/"); slash >= 0; slash = path.indexOf("/", slash + 1)) {
    above.push(path.slice(0, slash));
  }
  return above;
}

/** The value that a merge ends with; undefined if both sides changed it, differently. */
function pick<T>(base: T, ours: T, theirs: T): T | undefined {
  if (ours === theirs || theirs === base) return ours;
  return ours === base ? theirs : undefined;
}
