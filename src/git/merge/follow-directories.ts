import type { ByteText } from "../byte-text.ts";
import { EMPTY_TREE_OID } from "../oid.ts";
import {
  type Arrivals,
  type DirectoryRenames,
  dropCommon,
  findArrivals,
  findDirectoryRenames,
  findMove,
} from "./directory-renames.ts";
import {
  BASE,
  directoryOf,
  makeMergePath,
  maskOf,
  otherSide,
  presence,
  type Side,
  SIDES,
  type ThreeWay,
} from "./merge-path.ts";
import type { MergeState } from "./merge-state.ts";
import type { SideRename, SideRenames } from "./side-renames.ts";

/**
 * Moves files that one side added to a directory which the other side renamed into the renamed
 * directory.
 *
 * Each such move is recorded as a conflict, since it is a guess. This is git's default.
 */
export function followDirectories(state: MergeState, sides: ThreeWay<SideRenames>): void {
  const renames: ThreeWay<Map<ByteText, ByteText>> = [new Map(), new Map(), new Map()];
  for (const side of SIDES) {
    const found = findDirectoryRenames(sides[side]);
    renames[side] = found.renames;
    for (const path of found.split) addConflict(state, path);
  }
  dropCommon(renames[1], renames[2]);
  const arrivals: ThreeWay<Arrivals> = [new Map(), new Map(), new Map()];
  for (const side of SIDES) {
    arrivals[side] = findArrivals(sides[side].files, renames[otherSide(side)]);
  }
  for (const side of SIDES) {
    const other = otherSide(side);
    for (const file of sides[side].files) {
      // A path to which the other side's files would also be moved is left alone.
      if (arrivals[other].has(file.newPath)) continue;
      const path = findFreeMove(state, side, file, renames[other], renames[side], arrivals[side]);
      if (path !== undefined) moveFile(state, side, file, path);
    }
  }
}

/** The target path of a file; undefined if the file should stay or the target is taken. */
function findFreeMove(
  state: MergeState,
  side: Side,
  file: SideRename,
  renames: DirectoryRenames,
  ownRenames: DirectoryRenames,
  arrivals: Arrivals,
): ByteText | undefined {
  const move = findMove(file.newPath, renames);
  // A file is not moved into a directory that this side itself renamed: it would have to be moved
  // again.
  if (!move || ownRenames.has(move.directory)) return undefined;
  const arrival = arrivals.get(move.path);
  const entry = state.paths.get(move.path);
  // The base's file at the target may have been renamed away. Git also avoids such targets since
  // 2.51.
  const isOtherFile =
    entry?.files[BASE] !== undefined && move.path !== (file.oldPath ?? file.newPath);
  const isTaken =
    entry !== undefined &&
    (entry.isResolved ||
      isOtherFile ||
      ((presence(entry.files) | presence(entry.trees)) & maskOf(side)) !== 0);
  if (arrival && !isTaken && arrival.paths.length === 1) return move.path;
  if (arrival && !arrival.isReported) {
    arrival.isReported = true;
    addConflict(state, move.path);
  }
  return undefined;
}

function addConflict(state: MergeState, path: ByteText): void {
  state.conflicts.push({ path, kind: "directory-rename" });
  state.hasDirectoryConflict = true;
}

function moveFile(
  { paths, conflicts }: MergeState,
  side: Side,
  file: SideRename,
  to: ByteText,
): void {
  const from = paths.get(file.newPath);
  if (!from) return;
  for (let above = directoryOf(to); above !== "" && !paths.has(above); above = directoryOf(above)) {
    const directory = makeMergePath(above);
    directory.trees[side] = EMPTY_TREE_OID;
    paths.set(above, directory);
  }
  const target = paths.get(to) ?? makeMergePath(to);
  paths.set(to, target);
  target.files[side] = from.files[side];
  target.origins[side] = file.newPath;
  if (presence(target.files) === maskOf(side)) target.origins.fill(file.newPath);
  target.hasPathConflict = true;
  conflicts.push({ path: to, kind: "directory-rename" });
  if (presence(from.trees) === 0) paths.delete(file.newPath);
  else from.files[side] = undefined;
  file.newPath = to;
}
