import { GitError } from "../../git/error.ts";
import { diffLines, isBinary } from "../../git/diff/line-diff.ts";
import { countLines, type LineStat } from "../../git/diff/line-stat.ts";
import { findRenames } from "../../git/diff/renames.ts";
import { diffTrees, type PathChange, type PathEntry } from "../../git/diff/tree-diff.ts";
import { encodeUtf8 } from "../../git/byte-text.ts";
import { isSubmoduleMode } from "../../git/object/tree.ts";
import type { Oid } from "../../git/oid.ts";
import type { ObjectReader } from "../../git/store.ts";

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

/** Counts changed lines of all files together as `git diff --shortstat` does, with rename detection. */
export async function countChangedLines(
  objects: ObjectReader,
  changes: readonly PathChange[],
): Promise<LineStat> {
  let added = 0;
  let removed = 0;
  for (const change of await findRenames(objects, changes)) {
    const stat = await countSides(objects, change);
    added += stat?.added ?? 0;
    removed += stat?.removed ?? 0;
  }
  return { added, removed };
}

/** Counts the lines that a change adds and removes; undefined for binary files. */
export async function countSides(
  objects: ObjectReader,
  change: PathChange,
): Promise<LineStat | undefined> {
  const { old, fresh, isText } = await readSides(objects, change);
  return isText ? countLines(diffLines(old, fresh)) : undefined;
}

/** Reads the contents of both sides of a change. `isText` states whether they can be diffed line by line. */
export async function readSides(
  objects: ObjectReader,
  change: PathChange,
): Promise<{ old: Uint8Array; fresh: Uint8Array; isText: boolean }> {
  const oldEntry = change.kind === "added" ? undefined : change.old;
  const newEntry = change.kind === "deleted" ? undefined : change.new;
  if (oldEntry && newEntry && oldEntry.oid === newEntry.oid) {
    return { old: NOTHING, fresh: NOTHING, isText: true };
  }
  const old = await readSide(objects, oldEntry);
  const fresh = await readSide(objects, newEntry);
  if (!old || !fresh) return { old: NOTHING, fresh: NOTHING, isText: false };
  return { old, fresh, isText: !isBinary(old) && !isBinary(fresh) };
}

/** Undefined for a file that is too large. */
async function readSide(
  objects: ObjectReader,
  entry: PathEntry | undefined,
): Promise<Uint8Array | undefined> {
  if (!entry) return NOTHING;
  if (isSubmoduleMode(entry.mode)) return encodeUtf8(`Subproject commit ${entry.oid}\n`);
  try {
    const found = await objects.readObject(entry.oid);
    if (!found) throw new Error(`the blob ${entry.oid} is not there`);
    return found.content.length > TEXT_BYTES_MAX ? undefined : found.content;
  } catch (error) {
    if (error instanceof GitError && error.code === "limit") return undefined;
    throw error;
  }
}
