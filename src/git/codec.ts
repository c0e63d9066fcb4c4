/** A hash in progress. */
export interface Hash {
  update(bytes: Uint8Array): unknown;
  /** The raw hash; the instance is of no use afterwards. */
  digest(): Uint8Array;
}

/**
 * What the host does better than the engine, handed in by whoever opens it.
 *
 * Finding where a stream ends is not among it: a pack needs exact input boundaries and a bounded
 * output for each of its entries, and there the engine's own `Inflater` is as fast as the
 * platform's on the small objects that most objects are.
 */
export interface Codec {
  /** SHA-1 by the platform, for inputs of `HOST_HASH_BYTES_MIN` and more. */
  createSha1(): Hash;
  /** `bytes` as one zlib stream, which must be complete on return. */
  deflate(bytes: Uint8Array): Uint8Array;
  /**
   * What one zlib stream inflates to, in memory of its own; for outputs of `HOST_INFLATE_BYTES_MIN`
   * to `HOST_INFLATE_BYTES_MAX`.
   *
   * @param bytes     The stream, from its first byte to its last.
   * @param sizeBytes How long the output is. Whether it is, the caller checks.
   * @throws Error if the bytes are no such stream.
   */
  inflate(bytes: Uint8Array, sizeBytes: number): Uint8Array;
}

/** Inputs smaller than this are hashed by the engine: a call into the platform costs more. */
export const HOST_HASH_BYTES_MIN = 2048;

/** Outputs smaller than this are inflated by the engine, for the same reason. */
export const HOST_INFLATE_BYTES_MIN = 4096;
/** Larger ones too: the platform takes up to twice as much memory beside what it returns. */
export const HOST_INFLATE_BYTES_MAX = 1024 * 1024;

/** How the host compresses what is sent, where no more than a piece is to be held. */
export interface Compressor {
  /** `bytes` deflated, without a header, complete on return. */
  deflateRaw(bytes: Uint8Array): Uint8Array;
  /** A stream, without a header or as a gzip file. */
  open(format: "raw" | "gzip"): Deflating;
}

/** A stream that is compressed piece by piece. */
export interface Deflating {
  /** Takes a piece, and gives what it comes to, which may be nothing yet. */
  push(bytes: Uint8Array): Promise<Uint8Array[]>;
  /** The rest. */
  finish(): Promise<Uint8Array[]>;
  /** Gives back what the stream takes; also where it is not finished. */
  close(): void;
}
