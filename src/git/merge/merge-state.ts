import type { ByteText } from "../byte-text.ts";
import type { FileMergeOptions } from "./merge-file.ts";
import type { MergePath } from "./merge-path.ts";
import type { NewObjects } from "./new-objects.ts";

/** Why a path could not be merged. */
export type ConflictKind =
  | "content" // both sides changed the same lines, or a symlink
  | "binary" // both sides changed a file that is binary or has too many lines
  | "mode" // the sides disagree on whether a file is executable
  | "submodule" // both sides changed the commit of a submodule
  | "type" // one side has a file, the other a symlink or submodule
  | "add-add" // both sides added different files at the same path
  | "modify-delete" // one side changed a file that the other deleted
  | "rename-delete" // one side renamed a file that the other deleted
  | "rename-rename" // both sides renamed a file to different paths
  | "rename-add" // one side renamed a file that both changed to a path where the other has a file
  | "file-directory" // one side has a file where the other has a directory
  | "directory-rename"; // one side added to a directory that the other renamed, split, or filled at the target

export interface MergeConflict {
  /** The path in the result; with `file-directory`, the path to which the file was moved aside. */
  readonly path: ByteText;
  readonly kind: ConflictKind;
}

/** State shared by the steps of a merge of three trees. */
export interface MergeState {
  readonly paths: Map<ByteText, MergePath>;
  readonly conflicts: MergeConflict[];
  /** True if a conflict concerns a directory as a whole, and so no path in particular. */
  hasDirectoryConflict: boolean;
  readonly objects: NewObjects;
  readonly options: FileMergeOptions;
}
