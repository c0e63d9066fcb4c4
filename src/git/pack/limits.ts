/**
 * Limits for an untrusted pack. Each is checked before memory is allocated for the bounded value.
 */
export interface PackLimits {
  readonly objectsMax: number;
  /** Maximum inflated size of an object. */
  readonly objectBytesMax: number;
  /** Maximum size of a commit, tree or tag: these are read into memory to be checked. */
  readonly structureBytesMax: number;
  /**
   * Maximum size of an object that is resolved from a delta, or used as a base, in memory. Larger
   * ones are resolved in scratch.
   */
  readonly deltaObjectBytesMax: number;
  /**
   * Maximum size of a delta that is read into memory. Git writes no delta longer than half of its
   * object.
   */
  readonly deltaBytesMax: number;
  /** Maximum length of a delta chain. Git itself writes at most 4095. */
  readonly deltaDepthMax: number;
  /** Maximum size of all objects together, inflated and resolved: see `InflatedTotal`. */
  readonly inflatedBytesMax: number;
  /** The same for each byte of the pack, beyond `inflatedBytesFree`. */
  readonly inflatedRatioMax: number;
  /**
   * Size that the objects of a pack of any size may have, so that a few files of one byte repeated
   * are no exception.
   */
  readonly inflatedBytesFree: number;
}

export const DEFAULT_PACK_LIMITS: PackLimits = {
  objectsMax: 20_000_000,
  objectBytesMax: 5 * 2 ** 30,
  structureBytesMax: 16 * 2 ** 20,
  deltaObjectBytesMax: 16 * 2 ** 20,
  deltaBytesMax: 8 * 2 ** 20,
  deltaDepthMax: 4095,
  inflatedBytesMax: 2 ** 39,
  inflatedRatioMax: 1000,
  inflatedBytesFree: 2 ** 31,
};

/**
 * Memory for contents that wait to be used as bases, in bytes.
 *
 * With the limits above, a base and a result of 16 MB each, a delta of 8 MB, a spill file of 4 MB
 * and a window of 2 MB, the second pass uses less than 60 MB for any pack.
 */
export const LIVE_BYTES_MAX = 12 * 2 ** 20;
