import type { Oid } from "./oid.ts";
import type { ObjectKind } from "./object/kind.ts";

/** A file of known length that is read by ranges: a pack, an index or a sidecar. */
export interface ByteSource {
  readonly sizeBytes: number;
  /** Exactly the bytes `start` to `end`. A read that cannot be answered whole rejects. */
  read(start: number, end: number): Promise<Uint8Array>;
}

/** Room for what does not fit memory while one pack is indexed. Nothing in it outlives that. */
export interface Scratch {
  /** Stores a file under a number that was not used before. */
  write(file: number, bytes: Uint8Array): Promise<void>;
  /** Exactly the bytes `start` to `end` of a file written before. */
  read(file: number, start: number, end: number): Promise<Uint8Array>;
}

/** An object with its content. */
export interface StoredObject {
  readonly kind: ObjectKind;
  readonly content: Uint8Array;
}

/** Where an entry of a pack is. */
export interface EntryRange {
  readonly source: ByteSource;
  readonly start: number;
  readonly end: number;
}

/** An object as a pack stores it, where it or one of its bases is too large to be read whole. */
export interface StoredChain {
  readonly kind: ObjectKind;
  /** The whole entry first, then deltas, each of the one before. The last is the object's. */
  readonly entries: readonly (EntryRange & { readonly oid: Oid; readonly sizeBytes: number })[];
}

/** Where the engine finds the objects of a repository. */
export interface ObjectReader {
  /** The entries of an object that `readObject` refuses for a size; undefined for any other. */
  findLarge?(oid: Oid): StoredChain | undefined;
  /** Undefined if there is no such object. */
  readObject(oid: Oid): Promise<StoredObject | undefined>;
}

/** The files beside each other that hold one pack. */
export type PackFileKind = "pack" | "idx" | "sidecar";

/** Told how many bytes a piece of work holds in memory now, each time that has changed by much. */
export type Gauge = (heldBytes: number) => void;
