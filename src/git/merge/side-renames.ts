import type { ByteText } from "../byte-text.ts";
import { RenameMatcher, type RenameOptions, type RenameTarget } from "../diff/rename-matcher.ts";
import type { PathEntry } from "../diff/tree-diff.ts";
import type { ObjectReader } from "../store.ts";
import { directoryOf, nameOf } from "./merge-path.ts";
import type { DirectoryRelevance, SideChanges } from "./three-way-walk.ts";

/** The empty blob. It is never considered renamed: any two empty files are equal. */
const EMPTY_BLOB_OID = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";

/** A file that one side added or renamed. Deleted files are not listed. */
export interface SideRename {
  /** Undefined for an added file. */
  readonly oldPath: ByteText | undefined;
  newPath: ByteText;
}

export interface SideRenames {
  /** In the order in which the walk visited the new paths. */
  readonly files: SideRename[];
  /** For each removed directory, how many of its files were renamed into each other directory. */
  readonly directories: DirectoryCounts;
}

/**
 * Finds the files that one side renamed and that matter for the merge.
 *
 * Other renames are found only if they cost nothing: a file that the other side did not change is
 * merged correctly without knowing its new path.
 */
export async function findSideRenames(
  objects: ObjectReader,
  side: SideChanges,
  options: RenameOptions,
): Promise<SideRenames> {
  const counts = new DirectoryCounts(side.directoriesGone);
  const olds: PathEntry[] = [];
  const news: PathEntry[] = [];
  for (const change of side.changes) {
    if (change.kind === "deleted") {
      if (change.old.oid !== EMPTY_BLOB_OID) olds.push(change.old);
    } else if (change.new.oid !== EMPTY_BLOB_OID) {
      news.push(change.new);
    }
  }
  const sources = olds.map((entry) => ({ entry, useCount: 0 }));
  const matcher = new RenameMatcher(objects, options, sources, news);
  if (side.sources.size > 0 && olds.length > 0 && news.length > 0) {
    matcher.pairExact();
    matcher.dropUsedSources();
    const counted = new Set<RenameTarget>();
    const countPairs = (): void => {
      for (const target of matcher.targets) {
        if (!target.source || counted.has(target)) continue;
        counted.add(target);
        counts.add(target.source.entry.path, target.entry.path);
      }
    };
    countPairs();
    const guesses = counts.guess();
    const isRelevant = (path: ByteText): boolean => side.sources.has(path);
    await matcher.pairByName(
      (source) => isRelevant(source.entry.path),
      (path) => {
        const directory = guesses.get(directoryOf(path));
        return directory === undefined ? undefined : `${directory}/${nameOf(path)}`;
      },
    );
    countPairs();
    matcher.dropUsedSources();
    matcher.sources = matcher.sources.filter((source) => isRelevant(source.entry.path));
    const isNeeded = counts.findNeeded(
      matcher.sources.map((source) => source.entry.path),
      side.sources,
    );
    matcher.sources = matcher.sources.filter((source) => isNeeded(source.entry.path));
    await matcher.pairMostAlike();
    countPairs();
  }
  const targets = new Map(matcher.targets.map((target) => [target.entry.path, target]));
  const files = side.changes.flatMap((change) => {
    if (change.kind === "deleted") return [];
    const oldPath = targets.get(change.new.path)?.source?.entry.path;
    return [{ oldPath, newPath: change.new.path }];
  });
  return { files, directories: counts };
}

/** Counts into which directories the files of removed directories were renamed. */
class DirectoryCounts {
  private readonly counts = new Map<ByteText, Map<ByteText, number>>();
  private readonly removed: ReadonlyMap<ByteText, DirectoryRelevance>;

  /** @param removed The removed directories, and why each matters. */
  constructor(removed: ReadonlyMap<ByteText, DirectoryRelevance>) {
    this.removed = removed;
  }

  /**
   * Counts a renamed file for its directory, and for the directories above as long as the names
   * below them are unchanged: a rename of `a/b/c/d/f` to `a/x/y/d/f` counts `a/b/c/d` as renamed to
   * `a/x/y/d` and `a/b/c` as renamed to `a/x/y`.
   */
  add(oldPath: ByteText, newPath: ByteText): void {
    let old = oldPath;
    let fresh = newPath;
    for (let isFirst = true; ; isFirst = false) {
      const oldName = nameOf(old);
      const newName = nameOf(fresh);
      old = directoryOf(old);
      fresh = directoryOf(fresh);
      const relevance = this.removed.get(old);
      if (relevance === undefined || (!isFirst && oldName !== newName)) return;
      if (isFirst || relevance === "itself") {
        const counts = this.counts.get(old) ?? new Map<ByteText, number>();
        counts.set(fresh, (counts.get(fresh) ?? 0) + 1);
        this.counts.set(old, counts);
      }
      if (relevance === "none" || old === "" || fresh === "") return;
    }
  }

  /** For each directory, the known directory to which most of its files were renamed. */
  guess(): Map<ByteText, ByteText> {
    const guesses = new Map<ByteText, ByteText>();
    for (const [old, counts] of this.counts) {
      let highest = 0;
      for (const [fresh, count] of counts) {
        if (count <= highest) continue;
        highest = count;
        guesses.set(old, fresh);
      }
    }
    return guesses;
  }

  /**
   * A predicate for the paths whose rename must still be found. A file that matters only for the
   * renames of its directories is not needed once a majority decides where these directories went.
   */
  findNeeded(
    paths: readonly ByteText[],
    sources: ReadonlyMap<ByteText, "content" | "place">,
  ): (path: ByteText) => boolean {
    const unknown = new Map<ByteText, number>();
    for (const path of paths) {
      for (const directory of this.above(path)) {
        unknown.set(directory, (unknown.get(directory) ?? 0) + 1);
      }
    }
    const isDecided = (directory: ByteText): boolean => {
      const [first = 0, second = 0] = [...(this.counts.get(directory)?.values() ?? [])].toSorted(
        (a, b) => b - a,
      );
      return first > second + (unknown.get(directory) ?? 0);
    };
    return (path) => {
      if (sources.get(path) === "content") return true;
      for (const directory of this.above(path)) {
        if (this.removed.get(directory) === "itself" && !isDecided(directory)) return true;
      }
      return false;
    };
  }

  /**
   * The new path of each directory, which is the directory that received most of its files;
   * undefined if two directories received equally many.
   */
  *winners(): Generator<readonly [old: ByteText, fresh: ByteText | undefined]> {
    for (const [old, counts] of this.counts) {
      if ((this.removed.get(old) ?? "none") === "none") continue;
      const [first, second] = [...counts].toSorted(([, a], [, b]) => b - a);
      if (first) yield [old, second?.[1] === first[1] ? undefined : first[0]];
    }
  }

  /** The relevant directories above a path, innermost first. */
  private *above(path: ByteText): Generator<ByteText> {
    let directory = directoryOf(path);
    while (directory !== "" && (this.removed.get(directory) ?? "none") !== "none") {
      yield directory;
      directory = directoryOf(directory);
    }
  }
}
