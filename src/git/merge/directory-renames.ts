import type { ByteText } from "../byte-text.ts";
import { directoryOf } from "./merge-path.ts";
import type { SideRename, SideRenames } from "./side-renames.ts";

/** New paths of the directories that a side renamed, by old path. */
export type DirectoryRenames = ReadonlyMap<ByteText, ByteText>;

/**
 * The directories that one side renamed (`renames`), and the directories whose files it distributed
 * so that no single directory received most of them (`split`).
 */
export function findDirectoryRenames(side: SideRenames): {
  renames: Map<ByteText, ByteText>;
  split: ByteText[];
} {
  const renames = new Map<ByteText, ByteText>();
  const split: ByteText[] = [];
  for (const [old, fresh] of side.directories.winners()) {
    if (fresh === undefined) split.push(old);
    else renames.set(old, fresh);
  }
  return { renames, split };
}

/** Removes directories that both sides renamed: each side has already moved its files itself. */
export function dropCommon(ours: Map<ByteText, ByteText>, theirs: Map<ByteText, ByteText>): void {
  for (const old of ours.keys()) {
    if (!theirs.delete(old)) continue;
    ours.delete(old);
  }
}

/** The paths that directory renames would move to the same path. */
interface Arrival {
  readonly paths: ByteText[];
  isReported: boolean;
}

export type Arrivals = ReadonlyMap<ByteText, Arrival>;

/** The target paths of one side's files if they followed the other side's directory renames. */
export function findArrivals(files: readonly SideRename[], renames: DirectoryRenames): Arrivals {
  const arrivals = new Map<ByteText, Arrival>();
  for (const { newPath } of files) {
    const move = findMove(newPath, renames);
    if (!move) continue;
    const arrival = arrivals.get(move.path) ?? { paths: [], isReported: false };
    arrival.paths.push(newPath);
    arrivals.set(move.path, arrival);
  }
  return arrivals;
}

/** The target of a path that follows the rename of the nearest renamed directory above it. */
export function findMove(
  path: ByteText,
  renames: DirectoryRenames,
): { path: ByteText; directory: ByteText } | undefined {
  for (let old = directoryOf(path); old !== ""; old = directoryOf(old)) {
    const fresh = renames.get(old);
    if (fresh === undefined) continue;
    const rest = path.slice(old.length + 1);
    return { path: (fresh === "" ? rest : `${fresh}/${rest}`) as ByteText, directory: fresh };
  }
  return undefined;
}
