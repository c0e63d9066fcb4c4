import { type Budget, UNLIMITED, withoutLimit } from "../budget.ts";
import type { ByteText } from "../byte-text.ts";
import type { ObjectReader } from "../store.ts";
import {
  DEFAULT_RENAME_OPTIONS,
  RenameMatcher,
  type RenameOptions,
  type RenameSource,
} from "./rename-matcher.ts";
import { SCORE_MAX } from "./similarity.ts";
import type { PathChange, PathEntry } from "./tree-diff.ts";

/**
 * Turns pairs of deleted and added files into renames, as `git diff -M` does: first files with the
 * same content, then files with the same name in another directory, then the most similar files.
 *
 * @param budget Half of it bounds the comparison of contents: files that remain are not paired, as
 * in git above its limit of renames.
 * @returns The changes in the order of their new paths.
 */
export async function findRenames(
  objects: ObjectReader,
  changes: readonly PathChange[],
  budget: Budget = UNLIMITED,
  options: RenameOptions = DEFAULT_RENAME_OPTIONS,
): Promise<PathChange[]> {
  const matcher = makeMatcher(objects, changes, options, false, budget.half());
  await pairRenames(matcher);
  return collect(changes, matcher);
}

/**
 * Finds the deleted file that one added file was renamed from, as `git blame` and
 * `git log --follow` do: other added files do not compete for it.
 *
 * @param budget Once it is exhausted, files that were not compared count as not similar.
 */
export async function findRenameSource(
  objects: ObjectReader,
  changes: readonly PathChange[],
  newPath: ByteText,
  budget: Budget = UNLIMITED,
): Promise<PathEntry | undefined> {
  const relevant = changes.filter(
    (change) => change.kind !== "added" || change.new.path === newPath,
  );
  const matcher = makeMatcher(objects, relevant, DEFAULT_RENAME_OPTIONS, false, budget);
  await pairRenames(matcher);
  return matcher.targets[0]?.source?.entry;
}

async function pairRenames(matcher: RenameMatcher): Promise<void> {
  if (matcher.sources.length === 0 || matcher.targets.length === 0) return;
  matcher.pairExact();
  matcher.dropUsedSources();
  await matcher.pairByName();
  matcher.dropUsedSources();
  await matcher.pairMostAlike();
}

/**
 * Like `findRenames`, with copies, as `git diff -C`: an added file may also be a copy of a modified
 * file, and several added files may have the same source.
 */
export async function findCopies(
  objects: ObjectReader,
  changes: readonly PathChange[],
  options: RenameOptions = DEFAULT_RENAME_OPTIONS,
): Promise<PathChange[]> {
  const matcher = makeMatcher(objects, changes, options, true, withoutLimit(objects.budget));
  if (matcher.sources.length > 0 && matcher.targets.length > 0) {
    matcher.pairExact(true);
    await matcher.pairMostAlike(true);
  }
  return collect(changes, matcher);
}

function makeMatcher(
  objects: ObjectReader,
  changes: readonly PathChange[],
  options: RenameOptions,
  hasCopies: boolean,
  budget: Budget,
): RenameMatcher {
  const sources: RenameSource[] = changes.flatMap((change) => {
    if (change.kind === "deleted") return [{ entry: change.old, useCount: 0 }];
    return hasCopies && change.kind === "modified" ? [{ entry: change.old, useCount: 1 }] : [];
  });
  const news = changes.flatMap((change) => (change.kind === "added" ? [change.new] : []));
  return new RenameMatcher(objects, options, sources, news, budget);
}

function collect(changes: readonly PathChange[], matcher: RenameMatcher): PathChange[] {
  const targets = new Map(matcher.targets.map((target) => [target.entry.path, target]));
  const movedPaths = new Set(matcher.targets.map((target) => target.source?.entry.path));
  const result: PathChange[] = [];
  for (const change of changes) {
    if (change.kind === "deleted" && movedPaths.has(change.old.path)) continue;
    const target = change.kind === "added" ? targets.get(change.new.path) : undefined;
    if (!target?.source) {
      result.push(change);
      continue;
    }
    const { source, entry, score } = target;
    const similarityPercent = Math.floor((score * 100) / SCORE_MAX);
    // Of several files with the same source, the last one is the rename and the others are copies.
    const kind = --source.useCount > 0 ? "copied" : "renamed";
    result.push({ kind, old: source.entry, new: entry, similarityPercent });
  }
  return result;
}
