import { decodeText } from "../../../git/byte-text.ts";
import { findRenames } from "../../../git/diff/renames.ts";
import { type PathChange, splitTypeChange } from "../../../git/diff/tree-diff.ts";
import { type Hunk, hunksInTurns } from "../../../git/diff/unified.ts";
import type { Whitespace } from "../../../git/diff/whitespace.ts";
import { finishInTurns } from "../../../git/budget.ts";
import { type LineStat, countLines } from "../../../git/diff/line-stat.ts";
import type { Oid } from "../../../git/oid.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import { type Listed, type Slice } from "../../slice.ts";
import { diffSides, findChanges } from "./find-changes.ts";

/** Lines of one file's difference that are listed, at most. */
const LINES_MAX = 3000;

/** How one file differs between two trees. */
export interface FileDiff {
  readonly kind: PathChange["kind"];
  /** The path, the new one of a file that moved. */
  readonly path: string;
  /** The path before, of a file that was renamed or copied. */
  readonly oldPath: string | undefined;
  readonly oldMode: number | undefined;
  readonly newMode: number | undefined;
  /** Undefined for a file that is no text, that is over 4 MB, or for which no work is left. */
  readonly stat: LineStat | undefined;
  readonly hunks: readonly Hunk[];
  /** Whether the hunks end before the difference does. */
  readonly isCut: boolean;
}

/**
 * Lists how the files of two trees differ, in the order of their paths, with renames: a page of the
 * files, each with its hunks.
 *
 * Cost: compares both trees, and reads both sides of each file of the page, within the budget of
 * the request.
 *
 * @param oldTreeOid Undefined for the empty tree.
 * @returns Undefined for more than 3000 files.
 */
export async function listFileDiffs(
  { objects }: OpenRepository,
  oldTreeOid: Oid | undefined,
  newTreeOid: Oid,
  { size, offset }: Slice,
  whitespace: Whitespace = "show-all",
): Promise<Listed<FileDiff> | undefined> {
  const { budget } = objects;
  const found = await findChanges(objects, oldTreeOid, newTreeOid);
  if (!found) return undefined;
  const changes = (await findRenames(objects, found, budget)).flatMap(splitTypeChange);
  const items: FileDiff[] = [];
  for (const change of changes.slice(offset, offset + size)) {
    const diff = budget.isExhausted
      ? undefined
      : await diffSides(objects, change, budget, whitespace);
    const hunks = diff ? await finishInTurns(hunksInTurns(diff), budget) : [];
    items.push({ ...nameChange(change), stat: diff && countLines(diff), ...cut(hunks) });
  }
  return { items, total: changes.length };
}

function nameChange(change: PathChange): Omit<FileDiff, "stat" | "hunks" | "isCut"> {
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
  };
}

function cut(hunks: readonly Hunk[]): Pick<FileDiff, "hunks" | "isCut"> {
  const kept: Hunk[] = [];
  let left = LINES_MAX;
  for (const hunk of hunks) {
    if (hunk.lines.length > left) return { hunks: kept, isCut: true };
    left -= hunk.lines.length;
    kept.push(hunk);
  }
  return { hunks: kept, isCut: false };
}
