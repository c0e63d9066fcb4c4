import type { Budget } from "../../../git/budget.ts";
import { GitError } from "../../../git/error.ts";
import { diffLines, isBinary, type LineDiff } from "../../../git/diff/line-diff.ts";
import { countLines, type LineStat } from "../../../git/diff/line-stat.ts";
import { findRenames } from "../../../git/diff/renames.ts";
import type { Whitespace } from "../../../git/diff/whitespace.ts";
import { diffTrees, type PathChange, type PathEntry } from "../../../git/diff/tree-diff.ts";
import { encodeUtf8 } from "../../../git/byte-text.ts";
import { isSubmoduleMode } from "../../../git/object/tree.ts";
import type { Oid } from "../../../git/oid.ts";
import type { ObjectReader } from "../../../git/store.ts";

/** Maximum changed files that are listed for a commit. */
const CHANGES_MAX = 3000;
/** Maximum size of a file that is diffed line by line, in bytes. Larger files count as binary. */
const TEXT_BYTES_MAX = 4 * 1024 * 1024;

const NOTHING = new Uint8Array(0);

/**
 * Lists the files that differ between two trees, as `git diff-tree -r --no-renames` does.
 *
 * @returns Undefined for more than 3000 files.
 */
export async function findChanges(
  objects: ObjectReader,
  oldTreeOid: Oid | undefined,
  newTreeOid: Oid,
): Promise<PathChange[] | undefined> {
  try {
    return await diffTrees(objects, oldTreeOid, newTreeOid, { changesMax: CHANGES_MAX });
  } catch (error) {
    if (error instanceof GitError && error.code === "limit") return undefined;
    throw error;
  }
}

/**
 * Counts changed lines of all files together as `git diff --shortstat` does, with rename detection.
 *
 * @param objects Read within `budget`.
 */
export async function countChangedLines(
  objects: ObjectReader,
  changes: readonly PathChange[],
  budget: Budget,
): Promise<LineStat> {
  let added = 0;
  let removed = 0;
  for (const change of await findRenames(objects, changes, budget)) {
    const stat = await countSides(objects, change, budget);
    added += stat?.added ?? 0;
    removed += stat?.removed ?? 0;
  }
  return { added, removed };
}

/** Counts the lines that a change adds and removes; undefined where `diffSides` is. */
export async function countSides(
  objects: ObjectReader,
  change: PathChange,
  budget: Budget,
  whitespace?: Whitespace,
): Promise<LineStat | undefined> {
  const diff = await diffSides(objects, change, budget, whitespace);
  return diff && countLines(diff);
}

/**
 * Compares both sides of a change line by line; undefined for binary files, for files over 4 MB,
 * and for files that the budget does not suffice to read.
 *
 * @param objects Read within `budget`.
 */
export async function diffSides(
  objects: ObjectReader,
  change: PathChange,
  budget: Budget,
  whitespace?: Whitespace,
): Promise<LineDiff | undefined> {
  if ("old" in change && "new" in change && change.old.oid === change.new.oid) {
    return diffLines(NOTHING, NOTHING);
  }
  const sides = await readSides(objects, change);
  if (!sides || isBinary(sides.old) || isBinary(sides.fresh)) return undefined;
  try {
    return await diffLines(sides.old, sides.fresh, budget, whitespace);
  } catch (error) {
    if (error instanceof GitError && error.code === "limit") return undefined;
    throw error;
  }
}

/** The contents of both sides of a change; empty where the file does not exist. */
export interface ChangeSides {
  readonly old: Uint8Array;
  readonly fresh: Uint8Array;
}

/**
 * Reads both sides of a change; undefined for files over 4 MB, and for files that the budget does
 * not suffice to read.
 *
 * @param objects Read within a budget.
 */
export async function readSides(
  objects: ObjectReader,
  change: PathChange,
): Promise<ChangeSides | undefined> {
  try {
    const old = await readSide(objects, change.kind === "added" ? undefined : change.old);
    const fresh = await readSide(objects, change.kind === "deleted" ? undefined : change.new);
    return old && fresh && { old, fresh };
  } catch (error) {
    if (error instanceof GitError && error.code === "limit") return undefined;
    throw error;
  }
}

/** Undefined for a file that is too large. */
async function readSide(
  objects: ObjectReader,
  entry: PathEntry | undefined,
): Promise<Uint8Array | undefined> {
  if (!entry) return NOTHING;
  if (isSubmoduleMode(entry.mode)) return encodeUtf8(`Subproject commit ${entry.oid}\n`);
  const found = await objects.readObject(entry.oid);
  if (!found) throw new Error(`the blob ${entry.oid} is not there`);
  return found.content.length > TEXT_BYTES_MAX ? undefined : found.content;
}
