import { withoutLimit } from "../budget.ts";
import type { ByteText } from "../byte-text.ts";
import type { PathEntry } from "../diff/tree-diff.ts";
import { missing, overLimit } from "../error.ts";
import { isTreeMode, MODE_TREE, parseTreeInPieces } from "../object/tree.ts";
import { EMPTY_TREE_OID, type Oid } from "../oid.ts";
import type { ObjectReader } from "../store.ts";
import {
  ALL_MASK,
  BASE,
  BASE_MASK,
  canonicalMode,
  isSameVersion,
  makeMergePath,
  type MergePath,
  maskOf,
  OUR_MASK,
  OURS,
  presence,
  type Side,
  SIDES,
  THEIR_MASK,
  THEIRS,
  type ThreeWay,
  type Version,
} from "./merge-path.ts";

/** Longest path that is merged, in bytes; longer paths cannot be checked out on common systems. */
const PATH_BYTES_MAX = 4096;

/** Why a directory that one side removed matters for rename detection. */
export type DirectoryRelevance =
  | "none"
  /** A directory above it may have been renamed. */
  | "above"
  /** The other side added files to it, which must follow if it was renamed. */
  | "itself";

/** A file that one side deleted or added. */
type SideChange =
  | { readonly kind: "deleted"; readonly old: PathEntry }
  | { readonly kind: "added"; readonly new: PathEntry };

/** The changes of one side that matter for rename detection. */
export interface SideChanges {
  readonly changes: SideChange[];
  /**
   * Deleted paths whose new path must be found: for their content, because the other side changed
   * them, or only for their new path, to detect the rename of a directory.
   */
  readonly sources: Map<ByteText, "content" | "place">;
  readonly directoriesGone: Map<ByteText, DirectoryRelevance>;
}

/** The paths of three trees that a merge has to examine. */
export interface ThreeWayWalk {
  /** Every visited path, directories included. Paths that need no further work are resolved. */
  readonly paths: Map<ByteText, MergePath>;
  /** The changes by side; empty for the base. */
  readonly sides: ThreeWay<SideChanges>;
}

/**
 * Walks three trees in parallel. A subtree that only one side changed is resolved as a whole
 * without reading it, unless it may contain the new path of a file that this side deleted.
 *
 * @param pathsMax A merge that visits more paths is refused.
 * @throws GitError `missing` if a tree does not exist, `limit` for too many paths.
 */
export async function walkThreeWay(
  objects: ObjectReader,
  roots: ThreeWay<Oid>,
  pathsMax: number,
): Promise<ThreeWayWalk> {
  const walk = new Walk(objects, pathsMax);
  await walk.visitTrees("" as ByteText, roots, 0);
  await walk.visitDeferred();
  return walk;
}

/** A subtree that only one side changed; whether it must be read is decided after the walk. */
interface Deferred {
  readonly path: ByteText;
  readonly entry: MergePath;
  readonly followMask: number;
}

/** Entries of one name in three trees. */
interface Row {
  readonly name: ByteText;
  readonly versions: ThreeWay<Version | undefined>;
}

class Walk implements ThreeWayWalk {
  readonly paths = new Map<ByteText, MergePath>();
  readonly sides: ThreeWay<SideChanges> = [makeSide(), makeSide(), makeSide()];
  private readonly deferred: ThreeWay<Deferred[] | undefined> = [undefined, [], []];
  private readonly objects: ObjectReader;
  private readonly pathsMax: number;

  constructor(objects: ObjectReader, pathsMax: number) {
    this.objects = objects;
    this.pathsMax = pathsMax;
  }

  /**
   * Visits the entries of a directory on all sides.
   *
   * @param followMask 0 if the directory was not removed; the only side that still has the
   * directory; or all sides if that side added files to it, so that the other side's rename of the
   * directory must be detected.
   */
  async visitTrees(
    directory: ByteText,
    trees: ThreeWay<Oid | undefined>,
    followMask: number,
  ): Promise<void> {
    const rows = await this.readRows(trees);
    let follow = followMask;
    if (follow !== 0 && rows.some((row) => fileMask(row.versions) === followMask)) {
      follow = ALL_MASK;
    }
    for (const row of rows) await this.visitRow(directory, row, follow);
  }

  /**
   * Visits the deferred subtrees, or resolves them as a whole if no file can have been renamed into
   * them.
   */
  async visitDeferred(): Promise<void> {
    for (const side of SIDES) {
      const waiting = this.deferred[side] ?? [];
      const isNeeded = this.sides[side].sources.size > 0;
      this.deferred[side] = isNeeded ? undefined : [];
      for (const { path, entry, followMask } of waiting) {
        if (isNeeded) {
          await this.visitTrees(path, entry.trees, followMask);
        } else {
          const treeOid = entry.trees[side];
          entry.isResolved = true;
          entry.result =
            treeOid === undefined ? entry.files[side] : { mode: MODE_TREE, oid: treeOid };
        }
      }
    }
  }

  private async visitRow(directory: ByteText, row: Row, followMask: number): Promise<void> {
    const path = (directory === "" ? row.name : `${directory}/${row.name}`) as ByteText;
    if (this.paths.size >= this.pathsMax) throw overLimit("too many paths to merge");
    // Each path contains the paths above it, so deeply nested trees would take quadratic memory.
    if (path.length > PATH_BYTES_MAX) throw overLimit("path too long");
    const [base, ours, theirs] = row.versions;
    const oursIsBase = isSameVersion(base, ours);
    const theirsIsBase = isSameVersion(base, theirs);
    const isSame = isSameVersion(ours, theirs);
    const entry = makeMergePath(path);
    this.paths.set(path, entry);

    const files = fileMask(row.versions);
    const hasFiles = files === ALL_MASK;
    if ((oursIsBase && theirsIsBase) || (hasFiles && (oursIsBase || theirsIsBase || isSame))) {
      entry.isResolved = true;
      entry.result = oursIsBase ? theirs : ours;
      return;
    }

    const present = presence(row.versions);
    const dirs = present & ~files;
    const follow =
      followMask !== ALL_MASK &&
      (dirs === (BASE_MASK | OUR_MASK) || dirs === (BASE_MASK | THEIR_MASK))
        ? dirs & ~BASE_MASK
        : followMask;
    const sameMask = oursIsBase
      ? BASE_MASK | OUR_MASK
      : theirsIsBase
        ? BASE_MASK | THEIR_MASK
        : isSame
          ? OUR_MASK | THEIR_MASK
          : 0;
    this.noteDirectories(directory, path, files, dirs, follow);
    this.noteFiles(path, row.versions, files, sameMask, follow);
    for (const [side, version] of row.versions.entries()) {
      if (version === undefined) continue;
      if (isTreeMode(version.mode)) entry.trees[side] = version.oid;
      else entry.files[side] = version;
    }
    entry.sameMask = sameMask & files;
    if (dirs === 0) return;

    const side = changedSide(files, dirs, oursIsBase, theirsIsBase);
    const waiting = side === undefined ? undefined : this.deferred[side];
    if (waiting && follow !== ALL_MASK) waiting.push({ path, entry, followMask: follow });
    else await this.visitTrees(path, entry.trees, follow);
  }

  private noteDirectories(
    directory: ByteText,
    path: ByteText,
    files: number,
    dirs: number,
    followMask: number,
  ): void {
    if ((dirs & BASE_MASK) !== 0) {
      const relevance = followMask === ALL_MASK ? "above" : "none";
      for (const side of SIDES) {
        if ((dirs & maskOf(side)) === 0) this.sides[side].directoriesGone.set(path, relevance);
      }
    }
    if (followMask !== ALL_MASK) return;
    if (files === OUR_MASK) this.sides[THEIRS].directoriesGone.set(directory, "itself");
    if (files === THEIR_MASK) this.sides[OURS].directoriesGone.set(directory, "itself");
  }

  private noteFiles(
    path: ByteText,
    versions: ThreeWay<Version | undefined>,
    files: number,
    sameMask: number,
    followMask: number,
  ): void {
    const base = (files & BASE_MASK) === 0 ? undefined : versions[BASE];
    for (const side of SIDES) {
      const { changes, sources } = this.sides[side];
      const own = (files & maskOf(side)) === 0 ? undefined : versions[side];
      if (base && !own) {
        changes.push({ kind: "deleted", old: { path, ...base } });
        if ((sameMask & files) === 0) sources.set(path, "content");
        else if (followMask === ALL_MASK) sources.set(path, "place");
      }
      if (!base && own) changes.push({ kind: "added", new: { path, ...own } });
    }
  }

  /** The entries of three trees grouped by name, in the order in which trees store them. */
  private async readRows(trees: ThreeWay<Oid | undefined>): Promise<Row[]> {
    const rows = new Map<ByteText, Row>();
    for (const [side, treeOid] of trees.entries()) {
      if (treeOid === undefined || treeOid === EMPTY_TREE_OID) continue;
      const found = await this.objects.readObject(treeOid);
      if (found?.kind !== "tree") throw missing(`tree ${treeOid}`);
      for (const { name, mode, oid } of await parseTreeInPieces(
        found.content,
        withoutLimit(this.objects.budget),
      )) {
        const row: Row = rows.get(name) ?? { name, versions: [undefined, undefined, undefined] };
        row.versions[side] = { mode: canonicalMode(mode), oid };
        rows.set(name, row);
      }
    }
    return [...rows.values()].toSorted((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
  }
}

/** The key by which trees sort a name. */
function sortKey({ name, versions }: Row): string {
  const isFile = versions.some((version) => version && !isTreeMode(version.mode));
  return isFile ? name : `${name}/`;
}

/** The only side that changed a subtree; undefined if both did. */
function changedSide(
  files: number,
  dirs: number,
  oursIsBase: boolean,
  theirsIsBase: boolean,
): Side | undefined {
  if (files === 0 && dirs === OUR_MASK) return OURS;
  if (files === 0 && dirs === THEIR_MASK) return THEIRS;
  if (oursIsBase) return THEIRS;
  return theirsIsBase ? OURS : undefined;
}

function fileMask(versions: ThreeWay<Version | undefined>): number {
  let mask = 0;
  for (const [side, version] of versions.entries()) {
    if (version && !isTreeMode(version.mode)) mask |= 1 << side;
  }
  return mask;
}

function makeSide(): SideChanges {
  return { changes: [], sources: new Map(), directoriesGone: new Map() };
}
