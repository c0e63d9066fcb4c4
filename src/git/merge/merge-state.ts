import type { ByteText } from "../byte-text.ts";
import type { FileMergeOptions } from "./merge-file.ts";
import type { MergePath } from "./merge-path.ts";
import type { NewObjects } from "./new-objects.ts";

/** Why something could not be merged. */
export type ConflictKind =
  | "content" // both sides changed the same lines, or a link
  | "binary" // both sides changed what has no lines, or too many
  | "mode" // both sides changed whether a file is executable, or added it so and not so
  | "submodule" // both sides moved a submodule
  | "type" // one side has a file, the other a link or submodule
  | "add-add" // both sides added different files of one name
  | "modify-delete" // one side changed what the other deleted
  | "rename-delete" // one side renamed what the other deleted
  | "rename-rename" // both sides renamed a file, differently
  | "rename-add" // one side renamed a file to where the other has one, and both changed it
  | "file-directory" // one side has a file where the other has a directory
  | "directory-rename"; // one side added to a directory that the other renamed, split or filled

export interface MergeConflict {
  /** Where the result has it: with `file-directory`, not where it was. */
  readonly path: ByteText;
  readonly kind: ConflictKind;
}

/** What the steps of one merge of three trees share. */
export interface MergeState {
  readonly paths: Map<ByteText, MergePath>;
  readonly conflicts: MergeConflict[];
  /** True if a conflict is about a directory, and so about no path in particular. */
  hasDirectoryConflict: boolean;
  readonly objects: NewObjects;
  readonly options: FileMergeOptions;
}
