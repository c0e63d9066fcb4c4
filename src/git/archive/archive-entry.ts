import type { ByteText } from "../byte-text.ts";
import type { Oid } from "../oid.ts";

/** The bytes of a file: complete, or in pieces that the consumer may keep. */
type EntryContent = Uint8Array | AsyncIterable<Uint8Array>;

/** One entry of an archive. */
export interface ArchiveEntry {
  /** The path including the top folder; a directory or submodule ends with a slash. */
  readonly path: ByteText;
  readonly mode: number;
  readonly oid: Oid;
  /** 0 for an entry without content. */
  readonly sizeBytes: number;
  /** The content of a file, or the target of a symlink. */
  readonly content: EntryContent;
  /** Whether attributes mark the content as binary; undefined if the content itself decides. */
  readonly isBinary: boolean | undefined;
}

/** The commit of an archive. */
export interface ArchiveHead {
  readonly commitOid: Oid;
  /** Committer time, in seconds since 1970. */
  readonly timeSeconds: number;
}

/** A time as git holds it, in 64 bits. Later times are the last of these. */
export const exactSeconds = (timeSeconds: number): bigint =>
  timeSeconds >= 2 ** 64 ? 2n ** 64n - 1n : BigInt(timeSeconds);
