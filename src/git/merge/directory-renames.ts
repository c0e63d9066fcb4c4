import type { ByteText } from "../byte-text.ts";
import { directoryOf } from "./merge-path.ts";
import type { SideRename, SideRenames } from "./side-renames.ts";

/** Directories that a side renamed, by their old path. */
export type DirectoryRenames = ReadonlyMap<ByteText, ByteText>;

/**
 * The directories that one side renamed, with those that it scattered so that no one place has most
 * of their files.
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

/** Leaves out what both sides renamed: each has said itself where it wants it. */
export function dropCommon(ours: Map<ByteText, ByteText>, theirs: Map<ByteText, ByteText>): void {
  for (const old of ours.keys()) {
    if (!theirs.delete(old)) continue;
    ours.delete(old);
  }
}

/** Paths that directory renames would put at one place. */
interface Arrival {
  readonly paths: ByteText[];
  isReported: boolean;
}

export type Arrivals = ReadonlyMap<ByteText, Arrival>;

/** Where files of one side would come to, if they followed the other side's directories. */
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

/** Where a path would be if it followed the nearest directory above it that was renamed. */
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
