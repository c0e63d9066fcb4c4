/** A hash in progress. */
export interface Hash {
  update(bytes: Uint8Array): unknown;
  /** The raw hash; the instance must not be used afterwards. */
  digest(): Uint8Array;
}

/**
 * Hashing and compression by the host, which does them faster than the engine; passed in by the
 * caller.
 *
 * Finding the end of a stream stays with the engine: each entry of a pack needs an exact input
 * boundary and a bounded output, and on small objects, which are the majority, the engine's own
 * `Inflater` is as fast as the platform's.
 */
export interface Codec {
  /** SHA-1 by the platform, for inputs of `HOST_HASH_BYTES_MIN` and more. */
  createSha1(): Hash;
  /**
   * Compresses `bytes` into one zlib stream, which must be complete on return.
   *
   * @param level From 1, the quickest, to 9; by default 6.
   */
  deflate(bytes: Uint8Array, level?: number): Uint8Array;
  /** Compresses `bytes` into deflate blocks that end at a whole byte and that others may follow. */
  deflateBlocks(bytes: Uint8Array): Uint8Array;
  /**
   * Inflates one zlib stream into newly allocated memory; for outputs of `HOST_INFLATE_BYTES_MIN`
   * to `HOST_INFLATE_BYTES_MAX`.
   *
   * @param bytes     The stream, from its first byte to its last.
   * @param sizeBytes Expected length of the output. The caller checks the actual length.
   * @throws Error if the bytes are not a zlib stream.
   */
  inflate(bytes: Uint8Array, sizeBytes: number): Uint8Array;
}

/** Inputs smaller than this are hashed by the engine: a call into the platform costs more. */
export const HOST_HASH_BYTES_MIN = 2048;

/** Outputs smaller than this are inflated by the engine, for the same reason. */
export const HOST_INFLATE_BYTES_MIN = 4096;
/**
 * Larger outputs are too: the platform allocates up to twice their size in addition to the result.
 */
export const HOST_INFLATE_BYTES_MAX = 1024 * 1024;

/**
 * Compression by the host for responses that are sent in pieces, without holding the whole
 * response.
 */
export interface Compressor {
  /** Deflates `bytes` without a header; complete on return. */
  deflateRaw(bytes: Uint8Array): Uint8Array;
  /** Opens a stream, without a header, as a zlib stream or as a gzip file. */
  open(format: "raw" | "zlib" | "gzip", level?: number): Deflating;
}

/** A stream that is compressed piece by piece. */
export interface Deflating {
  /** Compresses a piece and returns the output available so far, which may be empty. */
  push(bytes: Uint8Array): Promise<Uint8Array[]>;
  /** Ends the stream and returns the remaining output. */
  finish(): Promise<Uint8Array[]>;
  /** Releases the stream's resources, whether it is finished or not. */
  close(): void;
}
