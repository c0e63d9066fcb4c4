/** A hash in progress. */
export interface Hash {
  update(bytes: Uint8Array): unknown;
  /** The raw hash; the instance is of no use afterwards. */
  digest(): Uint8Array;
}

/**
 * What the host does better than the engine, handed in by whoever opens it.
 *
 * Inflating is not among it: a pack needs exact input boundaries and a bounded output for each of
 * its entries, and for those the engine's own `Inflater` is as fast as the platform's on the small
 * objects that most objects are.
 */
export interface Codec {
  /** SHA-1 by the platform, for inputs of `HOST_HASH_BYTES_MIN` and more. */
  createSha1(): Hash;
  /** `bytes` as one zlib stream, which must be complete on return. */
  deflate(bytes: Uint8Array): Uint8Array;
}

/** Inputs smaller than this are hashed by the engine: a call into the platform costs more. */
export const HOST_HASH_BYTES_MIN = 2048;
