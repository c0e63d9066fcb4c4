import { type Budget, finishInTurns } from "../../../git/budget.ts";
import { decodeText } from "../../../git/byte-text.ts";
import { diffLines } from "../../../git/diff/line-diff.ts";
import { countLines, type LineStat } from "../../../git/diff/line-stat.ts";
import { findRenames } from "../../../git/diff/renames.ts";
import { type PathChange, splitTypeChange } from "../../../git/diff/tree-diff.ts";
import { type Hunk, hunksInTurns } from "../../../git/diff/unified.ts";
import type { Whitespace } from "../../../git/diff/whitespace.ts";
import { type LineRange, widenHunks } from "../../../git/diff/widen-hunks.ts";
import type { Oid } from "../../../git/oid.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import { type ChangeSides, diffSides, findChanges } from "./find-changes.ts";

/** Files that are listed at once, at most. */
const FILES_MAX = 50;
/** Lines after which no more files are listed at once, and bytes that are compared for them. */
const LINES_MAX = 3000;
const BYTES_MAX = 4 * 1024 * 1024;
/** Lines of one file that are listed, among others and alone. */
const FILE_LINES_MAX = 1000;
const ONLY_FILE_LINES_MAX = 5000;

/** A file that differs between two trees. */
export interface ChangedPath {
  readonly kind: PathChange["kind"];
  /** The path, the new one of a file that moved. */
  readonly path: string;
  /** The path before, of a file that was renamed or copied. */
  readonly oldPath: string | undefined;
  readonly oldMode: number | undefined;
  readonly newMode: number | undefined;
  /** The object after the change; of a deleted file the one before it. */
  readonly oid: Oid;
}

/** How one file differs between two trees. */
export interface FileDiff extends ChangedPath {
  /** Undefined for a file that is no text, that is over 4 MB, or for which no work is left. */
  readonly stat: LineStat | undefined;
  readonly hunks: readonly Hunk[];
  /** Lines of the file as it is after the change. */
  readonly newLineCount: number;
  /** Whether the hunks end before the difference does. */
  readonly isCut: boolean;
}

/** Selects what is listed of the difference between two trees. */
export interface FileDiffQuery {
  readonly whitespace: Whitespace;
  /** The path of the first file to list; by default the first one that differs. */
  readonly from: string | undefined;
  /** Lists the file with this path alone, and more of it. */
  readonly only: string | undefined;
  /** Unchanged lines of that file to list as well, as they are after the change. */
  readonly expanded: readonly LineRange[];
}

/** A part of the difference between two trees. */
export interface FileDiffs {
  /** All files that differ, in the order of their paths. */
  readonly changes: readonly ChangedPath[];
  /** The position in `changes` of the first one of `items`. */
  readonly start: number;
  /** Consecutive files with their lines. */
  readonly items: readonly FileDiff[];
}

/**
 * Lists how the files of two trees differ, with renames: all of their paths, and the lines of as
 * many files as fit a page.
 *
 * Cost: compares both trees, once for all parts, and reads both sides of each listed file, within
 * the budget of the request.
 *
 * @param oldTreeOid Undefined for the empty tree.
 * @returns Undefined for more than 3000 files. Without items if no file has the path of the query.
 */
export async function listFileDiffs(
  repository: OpenRepository,
  oldTreeOid: Oid | undefined,
  newTreeOid: Oid,
  { whitespace, from, only, expanded }: FileDiffQuery,
): Promise<FileDiffs | undefined> {
  const { objects } = repository;
  const { budget } = objects;
  const found = await findPathChanges(repository, oldTreeOid, newTreeOid);
  if (!found) return undefined;
  const changes = found.map(nameChange);
  const first = only ?? from;
  const named = first === undefined ? 0 : changes.findIndex(({ path }) => path === first);
  const start = named < 0 ? found.length : named;
  // A path has two changes if its type changed.
  const size = only === undefined ? FILES_MAX : changes.filter(({ path }) => path === only).length;
  const items: FileDiff[] = [];
  let [lineCount, sizeBytes] = [0, 0];
  for (const change of found.slice(start, start + size)) {
    if (lineCount >= LINES_MAX || sizeBytes >= BYTES_MAX) break;
    const diff = budget.isExhausted
      ? undefined
      : await diffSides(objects, change, budget, whitespace);
    const made = diff ? await finishInTurns(hunksInTurns(diff), budget) : [];
    const hunks = diff && only !== undefined ? widenHunks(made, diff, expanded) : made;
    const cut = cutHunks(hunks, only === undefined ? FILE_LINES_MAX : ONLY_FILE_LINES_MAX);
    lineCount += cut.hunks.reduce((sum, { lines }) => sum + lines.length, 0);
    sizeBytes += diff ? diff.left.bytes.length + diff.right.bytes.length : 0;
    items.push({
      ...nameChange(change),
      stat: diff && countLines(diff),
      newLineCount: diff?.right.count ?? 0,
      ...cut,
    });
  }
  return { changes, start, items };
}

/**
 * Compares a file as it is stored with a text that is not stored yet.
 *
 * @param file The change of its path.
 * @throws GitError `limit` for texts with more lines than the budget allows.
 */
export async function diffTexts(
  file: ChangedPath,
  { old, fresh }: ChangeSides,
  budget: Budget,
): Promise<FileDiff> {
  const diff = await diffLines(old, fresh, budget);
  const hunks = await finishInTurns(hunksInTurns(diff), budget);
  const cut = cutHunks(hunks, ONLY_FILE_LINES_MAX);
  return { ...file, stat: countLines(diff), newLineCount: diff.right.count, ...cut };
}

/** The files that differ, cached as one result; undefined for too many. */
async function findPathChanges(
  { results, objects }: OpenRepository,
  oldTreeOid: Oid | undefined,
  newTreeOid: Oid,
): Promise<PathChange[] | undefined> {
  const key = ["path changes", oldTreeOid ?? null, newTreeOid] as const;
  const cached = await results.getOrCompute(key, async (budget) => {
    const counted = objects.within(budget);
    const found = await findChanges(counted, oldTreeOid, newTreeOid);
    if (!found) return null;
    return (await findRenames(counted, found, budget)).flatMap(splitTypeChange);
  });
  return cached ?? undefined;
}

function nameChange(change: PathChange): ChangedPath {
  const old = change.kind === "added" ? undefined : change.old;
  const fresh = change.kind === "deleted" ? undefined : change.new;
  const path = decodeText(change.kind === "deleted" ? change.old.path : change.new.path);
  const oldPath = old && decodeText(old.path);
  return {
    kind: change.kind,
    path,
    oldPath: oldPath === path ? undefined : oldPath,
    oldMode: old?.mode,
    newMode: fresh?.mode,
    oid: change.kind === "deleted" ? change.old.oid : change.new.oid,
  };
}

/** The first lines of hunks, the last hunk cut to fit. */
function cutHunks(hunks: readonly Hunk[], max: number): Pick<FileDiff, "hunks" | "isCut"> {
  const kept: Hunk[] = [];
  let left = max;
  for (const hunk of hunks) {
    if (left === 0) return { hunks: kept, isCut: true };
    if (hunk.lines.length > left) {
      kept.push({ ...hunk, lines: hunk.lines.slice(0, left) });
      return { hunks: kept, isCut: true };
    }
    left -= hunk.lines.length;
    kept.push(hunk);
  }
  return { hunks: kept, isCut: false };
}
