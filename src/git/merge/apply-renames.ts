import { isRegularMode } from "../object/tree.ts";
import type { ByteText } from "../byte-text.ts";
import { mergeFile } from "./merge-file.ts";
import {
  BASE,
  isSameType,
  isSameVersion,
  type MergePath,
  OURS,
  otherSide,
  type Side,
  SIDES,
  THEIRS,
  type ThreeWay,
  type Version,
} from "./merge-path.ts";
import type { MergeState } from "./merge-state.ts";
import type { SideRenames } from "./side-renames.ts";

/** A file that one side renamed. */
interface Rename {
  readonly side: Side;
  readonly oldPath: ByteText;
  readonly newPath: ByteText;
}

/** Merges the changes of both sides to renamed files at their new paths. */
export async function applyRenames(state: MergeState, sides: ThreeWay<SideRenames>): Promise<void> {
  for (const pair of listRenames(sides)) {
    const [first, second] = pair;
    const old = state.paths.get(first.oldPath);
    // The other side changed neither the file nor a directory above it: the rename stands as it is.
    if (!old || old.isResolved) continue;
    if (second) await applyBoth(state, old, first, second);
    else await applyOne(state, old, first);
  }
}

/**
 * Renames in the order of old paths; if both sides renamed a file, the pair of renames with ours
 * first.
 */
function listRenames(sides: ThreeWay<SideRenames>): (readonly [Rename, Rename?])[] {
  const byPath = new Map<ByteText, readonly [Rename, Rename?]>();
  for (const side of SIDES) {
    for (const { oldPath, newPath } of sides[side].files) {
      if (oldPath === undefined) continue;
      const rename: Rename = { side, oldPath, newPath };
      const first = byPath.get(oldPath)?.[0];
      byPath.set(oldPath, first ? [first, rename] : [rename]);
    }
  }
  return [...byPath.values()].toSorted(([a], [b]) => (a.oldPath < b.oldPath ? -1 : 1));
}

async function applyBoth(
  state: MergeState,
  old: MergePath,
  { oldPath, newPath: ourPath }: Rename,
  { newPath: theirPath }: Rename,
): Promise<void> {
  const { objects, options, conflicts, paths } = state;
  const ours = paths.get(ourPath);
  const theirs = paths.get(theirPath);
  const ourVersion = ours?.files[OURS];
  const theirVersion = theirs?.files[THEIRS];
  const base = old.files[BASE];
  if (!ours || !theirs || !ourVersion || !theirVersion) return;
  if (ourPath === theirPath) {
    ours.files[BASE] = base;
    vacate(old, oldPath);
    return;
  }
  const { version, conflict } = await mergeFile(
    objects,
    [base, ourVersion, theirVersion],
    [oldPath, ourPath, theirPath],
    1 + 2 * options.depth,
    options,
  );
  ours.files[OURS] = version;
  // A version that could not be merged is not copied to the other path.
  const isOurs = conflict !== undefined && isSameVersion(version, ourVersion);
  theirs.files[THEIRS] = isOurs ? theirVersion : version;
  for (const path of [old, ours, theirs]) path.hasPathConflict = true;
  conflicts.push({ path: oldPath, kind: "rename-rename" });
}

async function applyOne(
  state: MergeState,
  old: MergePath,
  { side, oldPath, newPath }: Rename,
): Promise<void> {
  const { conflicts, paths } = state;
  const fresh = paths.get(newPath);
  const moved = fresh?.files[side];
  if (!fresh || !moved) return;
  const other = otherSide(side);
  const left = isMovedHere(old, oldPath, other) ? undefined : old.files[other];
  const isTypeChanged =
    left !== undefined && isRegularMode(left.mode) !== isRegularMode(moved.mode);
  if (fresh.files[other] && !isTypeChanged) {
    if (left) {
      await mergeOntoOther(state, old, fresh, { side, oldPath, newPath }, moved, left);
    } else {
      fresh.hasPathConflict = true;
      conflicts.push({ path: newPath, kind: "rename-delete" });
    }
  } else {
    fresh.files[BASE] = old.files[BASE];
    fresh.origins[BASE] = oldPath;
    if (isTypeChanged) {
      old.files[BASE] = undefined;
    } else if (left) {
      fresh.files[other] = left;
      fresh.origins[other] = oldPath;
    } else {
      fresh.hasPathConflict = true;
      conflicts.push({ path: newPath, kind: "rename-delete" });
    }
  }
  if (!isTypeChanged) vacate(old, oldPath);
}

/**
 * Merges a renamed file with the other side's version, before it collides with a file at its new
 * path.
 */
async function mergeOntoOther(
  state: MergeState,
  old: MergePath,
  fresh: MergePath,
  { side, oldPath, newPath }: Rename,
  moved: Version,
  left: Version,
): Promise<void> {
  if (!isSameType(moved.mode, left.mode)) return;
  const [ours, theirs] = side === OURS ? [moved, left] : [left, moved];
  const origins: ThreeWay<ByteText> = [oldPath, oldPath, oldPath];
  origins[side] = newPath;
  const { version, conflict } = await mergeFile(
    state.objects,
    [old.files[BASE], ours, theirs],
    origins,
    1 + 2 * state.options.depth,
    state.options,
  );
  fresh.files[side] = version;
  if (conflict) state.conflicts.push({ path: newPath, kind: "rename-add" });
}

/** True for a file that is at this path because it followed a renamed directory. */
function isMovedHere(entry: MergePath, path: ByteText, side: Side): boolean {
  return entry.files[side] !== undefined && entry.origins[side] !== path;
}

/**
 * Clears the old path of a rename, except for files that were moved there by a directory rename.
 */
function vacate(entry: MergePath, path: ByteText): void {
  entry.files[BASE] = undefined;
  for (const side of SIDES) {
    if (!isMovedHere(entry, path, side)) entry.files[side] = undefined;
  }
  if (entry.files.some((file) => file !== undefined)) return;
  entry.isResolved = true;
  entry.result = undefined;
}
