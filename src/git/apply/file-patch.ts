import type { ByteText } from "../byte-text.ts";

/** What a patch does to one file. */
export interface FilePatch {
  /** Undefined for a file that is created. */
  readonly oldName: ByteText | undefined;
  /** Undefined for a file that is deleted. */
  readonly newName: ByteText | undefined;
  /**
   * `modify` may turn out to create the file, where the patch has no header that says so:
   * `isCertain` is false then.
   */
  readonly kind: "create" | "delete" | "modify" | "rename" | "copy";
  readonly isCertain: boolean;
  readonly oldMode: number | undefined;
  readonly newMode: number | undefined;
  /** Ids of the contents, as long as the patch gives them. */
  readonly oldOid: string | undefined;
  readonly newOid: string | undefined;
  readonly hunks: readonly PatchHunk[];
  /** True if the contents differ in bytes that are no text. */
  readonly isBinary: boolean;
  /** How they differ; undefined where the patch only says that they do. */
  readonly binary: BinaryHunk | undefined;
}

/** Lines to be found, and lines that replace them. Each has its line feed, where there is one. */
export interface PatchHunk {
  /** The line of the old file that it begins at, from 1; 0 for none. */
  readonly oldStart: number;
  readonly newStart: number;
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** Lines at its end that stay as they are. */
  readonly trailing: number;
}

/** Deflated bytes: of the new content, or of a delta that makes it of the old one. */
export interface BinaryHunk {
  readonly kind: "literal" | "delta";
  /** Inflated. */
  readonly sizeBytes: number;
  readonly deflated: Uint8Array;
}
