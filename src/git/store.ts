import type { Budget } from "./budget.ts";
import type { Oid } from "./oid.ts";
import type { ObjectKind } from "./object/kind.ts";

/** A file of known length that is read in ranges: a pack, an index or a sidecar. */
export interface ByteSource {
  readonly sizeBytes: number;
  /** Exactly the bytes `start` to `end`. Rejects if any of them cannot be read. */
  read(start: number, end: number): Promise<Uint8Array>;
  /**
   * The same of a long range, over one connection and in buffers of that spacing. Without it, long
   * ranges are read in parts.
   */
  stream?(start: number, end: number, spacing: Spacing): AsyncGenerator<Uint8Array>;
}

/**
 * How bytes are laid out in buffers: in pieces of `pieceBytes`, each after a gap for a header, and
 * so many of them in a buffer.
 */
export interface Spacing {
  readonly gapBytes: number;
  readonly pieceBytes: number;
  readonly count: number;
}

/**
 * Temporary storage for data that does not fit in memory while one pack is indexed. Discarded
 * afterwards.
 */
export interface Scratch {
  /** Stores a file under a number that has not been used before. */
  write(file: number, bytes: Uint8Array): Promise<void>;
  /** Exactly the bytes `start` to `end` of a file that was written before. */
  read(file: number, start: number, end: number): Promise<Uint8Array>;
}

/** An object with its content. */
export interface StoredObject {
  readonly kind: ObjectKind;
  readonly content: Uint8Array;
}

/** The byte range of an entry in its pack. */
export interface EntryRange {
  readonly source: ByteSource;
  readonly start: number;
  readonly end: number;
}

/**
 * An object as a pack stores it, used when the object or one of its delta bases is too large to
 * read whole.
 */
export interface StoredChain {
  readonly kind: ObjectKind;
  /**
   * The undeltified base first, then the deltas, each against the previous entry. The last is the
   * object's.
   */
  readonly entries: readonly (EntryRange & { readonly oid: Oid; readonly sizeBytes: number })[];
}

/** The engine's source of a repository's objects. */
export interface ObjectReader {
  /** Pauses what walks over the objects. */
  readonly budget?: Budget | undefined;
  /**
   * The entries of an object that `readObject` refuses because of its size; undefined for any
   * other.
   */
  findLarge?(oid: Oid): StoredChain | undefined | Promise<StoredChain | undefined>;
  /** Undefined if the object does not exist. */
  readObject(oid: Oid): Promise<StoredObject | undefined>;
}

/**
 * The objects outside of a received pack to which it may refer.
 *
 * SECURITY: `readObject` and `findLarge` also answer for other stored objects, so `find` is asked
 * first.
 */
export interface OutsideObjects extends ObjectReader {
  /** The kind of an object to which the pack may refer; undefined for any other, stored or not. */
  find(oid: Oid): Promise<ObjectKind | undefined>;
}

/** The files stored for each pack. */
export type PackFileKind = "pack" | "idx" | "sidecar";

/** Receives the number of bytes that an operation holds in memory, after each large change. */
export type Gauge = (heldBytes: number) => void;
