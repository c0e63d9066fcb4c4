/** Bounds for a pack from outside, each checked before memory is taken for what it bounds. */
export interface PackLimits {
  readonly objectsMax: number;
  /** Largest object, inflated. */
  readonly objectBytesMax: number;
  /** Largest commit, tree or tag: these are read whole, to be checked. */
  readonly structureBytesMax: number;
  /** Largest object that is stored as a delta, or that a delta refers to: both are in memory. */
  readonly deltaObjectBytesMax: number;
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
  deltaDepthMax: 4095,
  inflatedBytesMax: 2 ** 40,
};
