import { withoutLimit } from "../budget.ts";
import type { ByteText } from "../byte-text.ts";
import { missing, overLimit } from "../error.ts";
import {
  compareTreeEntries,
  isTreeMode,
  MODE_TYPE,
  parseTreeInPieces,
  type TreeEntry,
} from "../object/tree.ts";
import { EMPTY_TREE_OID, type Oid } from "../oid.ts";
import type { ObjectReader } from "../store.ts";

/** A file, symlink or submodule at a path. */
export interface PathEntry {
  readonly path: ByteText;
  readonly mode: number;
  readonly oid: Oid;
}

/**
 * How one path differs between two trees. A changed directory is reported as changes of its files.
 */
export type PathChange =
  | { readonly kind: "added"; readonly new: PathEntry }
  | { readonly kind: "deleted"; readonly old: PathEntry }
  | { readonly kind: "modified"; readonly old: PathEntry; readonly new: PathEntry }
  /** Equal or similar content at another path; copied if the old path still exists. */
  | {
      readonly kind: "renamed" | "copied";
      readonly old: PathEntry;
      readonly new: PathEntry;
      /** 0 to 100. */
      readonly similarityPercent: number;
    };

export interface TreeDiffOptions {
  /** A diff with more changes is refused. */
  readonly changesMax: number;
  /** Restricts the diff to entries at or below this path. */
  readonly path?: ByteText;
}

/**
 * Compares two trees recursively, as `git diff-tree -r --no-renames` does. Equal subtrees are not
 * read.
 *
 * @param oldOid Undefined for an empty tree: everything is added.
 * @returns The changes in the order of paths.
 * @throws GitError `missing` if a tree does not exist, `limit` for more changes than allowed.
 */
export async function diffTrees(
  objects: ObjectReader,
  oldOid: Oid | undefined,
  newOid: Oid | undefined,
  options: TreeDiffOptions,
): Promise<PathChange[]> {
  const walk = new TreeDiff(objects, options);
  await walk.compare(oldOid, newOid, "");
  return walk.changes;
}

/** Steps to compare two entries. */
const ENTRY_STEPS = 30;

class TreeDiff {
  readonly changes: PathChange[] = [];
  private readonly objects: ObjectReader;
  private readonly options: TreeDiffOptions;

  constructor(objects: ObjectReader, options: TreeDiffOptions) {
    this.objects = objects;
    this.options = options;
  }

  async compare(oldOid: Oid | undefined, newOid: Oid | undefined, prefix: string): Promise<void> {
    if (oldOid === newOid) return;
    const olds = await this.read(oldOid);
    const news = await this.read(newOid);
    for (let left = 0, right = 0; left < olds.length || right < news.length;) {
      const pausing = this.objects.budget?.pause(ENTRY_STEPS);
      if (pausing) await pausing;
      const old = olds[left];
      const fresh = news[right];
      const order = !old ? 1 : !fresh ? -1 : compareTreeEntries(old, fresh);
      if (order <= 0) left++;
      if (order >= 0) right++;
      await this.comparePair(order <= 0 ? old : undefined, order >= 0 ? fresh : undefined, prefix);
    }
  }

  private async comparePair(
    old: TreeEntry | undefined,
    fresh: TreeEntry | undefined,
    prefix: string,
  ): Promise<void> {
    if (old && fresh && old.oid === fresh.oid && old.mode === fresh.mode) return;
    const path = `${prefix}${(old ?? fresh)?.name}` as ByteText;
    if (!this.isRelevant(path)) return;
    const oldTree = old && isTreeMode(old.mode) ? old.oid : undefined;
    const newTree = fresh && isTreeMode(fresh.mode) ? fresh.oid : undefined;
    if (oldTree !== undefined || newTree !== undefined) {
      await this.compare(oldTree, newTree, `${path}/`);
      return;
    }
    if (!this.isInside(path)) return;
    if (this.changes.length >= this.options.changesMax) throw overLimit("too many changed files");
    const before = old && { path, mode: old.mode, oid: old.oid };
    const after = fresh && { path, mode: fresh.mode, oid: fresh.oid };
    if (before && after) this.changes.push({ kind: "modified", old: before, new: after });
    else if (before) this.changes.push({ kind: "deleted", old: before });
    else if (after) this.changes.push({ kind: "added", new: after });
  }

  /** True if the path is at, below or above the requested path. */
  private isRelevant(path: ByteText): boolean {
    const filter = this.options.path;
    return !filter || this.isInside(path) || filter.startsWith(`${path}/`);
  }

  private isInside(path: ByteText): boolean {
    const filter = this.options.path;
    return !filter || path === filter || path.startsWith(`${filter}/`);
  }

  private async read(treeOid: Oid | undefined): Promise<TreeEntry[]> {
    // As in git, nobody needs to store the empty tree.
    if (treeOid === undefined || treeOid === EMPTY_TREE_OID) return [];
    const found = await this.objects.readObject(treeOid);
    if (found?.kind !== "tree") throw missing(`tree ${treeOid}`);
    return parseTreeInPieces(found.content, withoutLimit(this.objects.budget));
  }
}

/**
 * A change as patches show it: an entry whose type changed, such as a file that became a symlink,
 * is shown as deleted and added.
 */
export function splitTypeChange(change: PathChange): PathChange[] {
  const isTypeChange =
    change.kind === "modified" && (change.old.mode & MODE_TYPE) !== (change.new.mode & MODE_TYPE);
  if (!isTypeChange) return [change];
  return [
    { kind: "deleted", old: change.old },
    { kind: "added", new: change.new },
  ];
}
