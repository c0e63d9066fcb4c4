import { withoutLimit } from "../budget.ts";
import type { ByteText } from "../byte-text.ts";
import type { RenameOptions } from "../diff/rename-matcher.ts";
import { missing } from "../error.ts";
import {
  formatTree,
  isTreeMode,
  MODE_TREE,
  parseTreeInPieces,
  type TreeEntry,
} from "../object/tree.ts";
import type { Oid } from "../oid.ts";
import { applyRenames } from "./apply-renames.ts";
import { followDirectories } from "./follow-directories.ts";
import type { FileMergeOptions } from "./merge-file.ts";
import {
  BASE,
  directoryOf,
  type MergePath,
  nameOf,
  OURS,
  THEIRS,
  type ThreeWay,
  type Version,
} from "./merge-path.ts";
import type { MergeConflict, MergeState } from "./merge-state.ts";
import type { NewObjects } from "./new-objects.ts";
import { PathResolver } from "./resolve-path.ts";
import { findSideRenames, type SideRenames } from "./side-renames.ts";
import { walkThreeWay } from "./three-way-walk.ts";

/** A path in conflict with each side's version, as `git ls-files --unmerged` shows it. */
export interface ConflictedPath {
  readonly path: ByteText;
  readonly base: Version | undefined;
  readonly ours: Version | undefined;
  readonly theirs: Version | undefined;
}

export interface TreesMerge {
  /** The merged tree; with conflicts, a tree that shows them. */
  readonly treeOid: Oid;
  /** Empty for a clean merge. */
  readonly conflicts: readonly MergeConflict[];
  /** In the order of paths. A conflict about a directory as a whole is not listed. */
  readonly paths: readonly ConflictedPath[];
}

export interface TreesMergeOptions extends FileMergeOptions {
  /** A merge that visits more paths is refused. */
  readonly pathsMax: number;
  readonly renames: RenameOptions;
}

/**
 * Merges the changes of two trees to a base tree, as git's strategy `ort` does.
 *
 * @throws GitError `missing` if an object does not exist, `limit` for more paths than allowed.
 */
export async function mergeTrees(
  objects: NewObjects,
  roots: ThreeWay<Oid>,
  options: TreesMergeOptions,
): Promise<TreesMerge> {
  const walk = await walkThreeWay(objects, roots, options.pathsMax);
  const [, ours, theirs] = walk.sides;
  const renames: ThreeWay<SideRenames> = [
    await findSideRenames(objects, walk.sides[BASE], options.renames),
    await findSideRenames(objects, ours, options.renames),
    await findSideRenames(objects, theirs, options.renames),
  ];
  const state: MergeState = {
    paths: walk.paths,
    conflicts: [],
    hasDirectoryConflict: false,
    objects,
    options,
  };
  // Directory renames are a guess, so merges of merge bases do without them.
  if (options.depth === 0) followDirectories(state, renames);
  await applyRenames(state, renames);
  const writer = new TreeWriter(state);
  const treeOid =
    (await writer.write("" as ByteText, roots)) ?? objects.add("tree", formatTree([]));
  const { conflicted } = writer.resolver;
  // Conflicts recorded on the way may have been resolved in the end.
  const isClean = conflicted.size === 0 && !state.hasDirectoryConflict;
  const conflicts = isClean ? [] : state.conflicts;
  return { treeOid, conflicts, paths: listConflicted(conflicted) };
}

/** Resolves paths from the innermost directories outward, and writes the trees. */
class TreeWriter {
  readonly resolver: PathResolver;
  private readonly state: MergeState;
  private readonly children: ReadonlyMap<ByteText, ByteText[]>;

  constructor(state: MergeState) {
    this.state = state;
    this.resolver = new PathResolver(state);
    const children = new Map<ByteText, ByteText[]>();
    for (const path of state.paths.keys()) {
      const directory = directoryOf(path);
      const list = children.get(directory);
      if (list) list.push(path);
      else children.set(directory, [path]);
    }
    this.children = children;
  }

  /** Writes the merged tree of a directory; undefined if the directory is empty. */
  async write(directory: ByteText, known: ThreeWay<Oid | undefined>): Promise<Oid | undefined> {
    const entries = new Map<ByteText, TreeEntry>();
    for (const entry of await this.readResolved(directory)) entries.set(entry.name, entry);
    const put = (path: ByteText, version: Version | undefined): void => {
      const name = nameOf(path);
      if (version) entries.set(name, { name, ...version });
      else entries.delete(name);
    };
    // From the last path to the first, as in git. The order affects the names of files moved aside.
    const paths = (this.children.get(directory) ?? []).toSorted((a, b) =>
      `${a}/` > `${b}/` ? -1 : 1,
    );
    for (const path of paths) {
      const entry = this.state.paths.get(path) as MergePath;
      const hasChildren = this.children.has(path);
      const treeOid = hasChildren ? await this.write(path, entry.trees) : undefined;
      const tree = treeOid === undefined ? undefined : { mode: MODE_TREE, oid: treeOid };
      if (entry.isResolved) {
        put(path, tree ?? (hasChildren && isTree(entry.result) ? undefined : entry.result));
      } else {
        if (tree) put(path, tree);
        await this.resolver.resolve(path, entry, tree !== undefined, put);
      }
    }
    if (entries.size === 0) return undefined;
    return this.state.objects.add("tree", formatTree([...entries.values()]), known);
  }

  /** The entries of a directory that was resolved as a whole and then received further files. */
  private async readResolved(directory: ByteText): Promise<TreeEntry[]> {
    const entry = this.state.paths.get(directory);
    if (!entry?.isResolved || !isTree(entry.result)) return [];
    const treeOid = entry.result?.oid ?? "";
    const found = await this.state.objects.readObject(treeOid);
    if (found?.kind !== "tree") throw missing(`tree ${treeOid}`);
    return parseTreeInPieces(found.content, withoutLimit(this.state.objects.budget));
  }
}

const isTree = (version: Version | undefined): boolean =>
  version !== undefined && isTreeMode(version.mode);

function listConflicted(conflicted: ReadonlyMap<ByteText, MergePath>): ConflictedPath[] {
  return [...conflicted]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, { files }]) => ({
      path,
      base: files[BASE],
      ours: files[OURS],
      theirs: files[THEIRS],
    }));
}
