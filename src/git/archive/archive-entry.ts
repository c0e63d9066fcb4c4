import type { ByteText } from "../byte-text.ts";
import type { Oid } from "../oid.ts";

/** Bytes of a file: whole, or in pieces that are the taker's own. */
type EntryContent = Uint8Array | AsyncIterable<Uint8Array>;

/** What an archive holds at one path. */
export interface ArchiveEntry {
  /** From the top folder on; of a directory or submodule with a slash at its end. */
  readonly path: ByteText;
  readonly mode: number;
  readonly oid: Oid;
  /** 0 for what has no content. */
  readonly sizeBytes: number;
  /** Of a file, or where a symlink leads. */
  readonly content: EntryContent;
  /** What attributes say of the content; undefined where it tells itself. */
  readonly isBinary: boolean | undefined;
}

/** What an archive is made of. */
export interface ArchiveHead {
  readonly commitOid: Oid;
  /** The committer's, in seconds since 1970. */
  readonly timeSeconds: number;
}
