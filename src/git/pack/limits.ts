/** Bounds for a pack from outside, each checked before memory is taken for what it bounds. */
export interface PackLimits {
  readonly objectsMax: number;
  /** Largest object, inflated. */
  readonly objectBytesMax: number;
  /** Largest commit, tree or tag: these are read whole, to be checked. */
  readonly structureBytesMax: number;
  /**
   * Largest object that is stored as a delta, or that a delta refers to, of those that are resolved
   * in memory. Larger ones wait in scratch.
   */
  readonly deltaObjectBytesMax: number;
  /** Largest delta that is read whole. Git makes none that is longer than half of its object. */
  readonly deltaBytesMax: number;
  /** Longest chain of deltas. Git itself writes at most 4095. */
  readonly deltaDepthMax: number;
  /** All objects together, inflated and resolved. */
  readonly inflatedBytesMax: number;
}

export const DEFAULT_PACK_LIMITS: PackLimits = {
  objectsMax: 20_000_000,
  objectBytesMax: 5 * 2 ** 30,
  structureBytesMax: 16 * 2 ** 20,
  deltaObjectBytesMax: 16 * 2 ** 20,
  deltaBytesMax: 8 * 2 ** 20,
  deltaDepthMax: 4095,
  inflatedBytesMax: 2 ** 40,
};

/**
 * What contents that wait to be used as bases may take, in bytes.
 *
 * With the limits above, a base and a result of 16 MB each, a delta of 8 MB, a spill file of 4 MB
 * and a window of 2 MB, the second pass stays below 60 MB whatever is pushed.
 */
export const LIVE_BYTES_MAX = 12 * 2 ** 20;
