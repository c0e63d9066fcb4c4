import type { ByteText } from "../byte-text.ts";

/** The part of a patch that concerns one file. */
export interface FilePatch {
  /** Undefined for a file that is created. */
  readonly oldName: ByteText | undefined;
  /** Undefined for a file that is deleted. */
  readonly newName: ByteText | undefined;
  /**
   * A patch without git's header may turn out to create the file although its kind is `modify`;
   * `isCertain` is false then.
   */
  readonly kind: "create" | "delete" | "modify" | "rename" | "copy";
  readonly isCertain: boolean;
  readonly oldMode: number | undefined;
  readonly newMode: number | undefined;
  /** Ids of the contents, abbreviated if the patch abbreviates them. */
  readonly oldOid: string | undefined;
  readonly newOid: string | undefined;
  readonly hunks: readonly PatchHunk[];
  /** True for a binary patch. */
  readonly isBinary: boolean;
  /** The binary data; undefined if the patch only reports that the contents differ. */
  readonly binary: BinaryHunk | undefined;
}

/** Lines to find, and lines that replace them. Each line includes its line feed, if it has one. */
export interface PatchHunk {
  /** First line in the old file, counted from 1; 0 if the hunk has no old lines. */
  readonly oldStart: number;
  readonly newStart: number;
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** Number of unchanged lines at the end of the hunk. */
  readonly trailing: number;
}

/** Deflated bytes of the new content, or of a delta that produces it from the old content. */
export interface BinaryHunk {
  readonly kind: "literal" | "delta";
  /** Size of the inflated bytes. */
  readonly sizeBytes: number;
  readonly deflated: Uint8Array;
}
