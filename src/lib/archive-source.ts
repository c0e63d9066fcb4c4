import type { ByteRange } from "./byte-range.ts";

/** Stored bytes that can be read in any order: a file of the object storage, or an array. */
export interface ArchiveSource {
  readonly sizeBytes: number;
  /** Exactly the bytes of a range that lies within the size. */
  read(range: ByteRange): Promise<Uint8Array>;
  /** Streams a range that is not empty and lies within the size. */
  open(range: ByteRange): Promise<ReadableStream<Uint8Array>>;
}

/**
 * Size of the pieces that go to a decompressor, in bytes.
 *
 * SECURITY: a decompressor expands a piece as a whole, and deflate expands up to 1032 times.
 */
const PIECE_BYTES = 16 * 1024;

/** A source over bytes in memory. */
export const sourceOfBytes = (bytes: Uint8Array): ArchiveSource => ({
  sizeBytes: bytes.length,
  read: async ({ start, end }) => bytes.slice(start, end),
  open: async ({ start, end }) => new Response(bytes.slice(start, end)).body as ReadableStream,
});

/** Reads a source from its start to its end in small pieces. */
export async function* readSource(source: ArchiveSource): AsyncGenerator<Uint8Array> {
  if (source.sizeBytes === 0) return;
  yield* readSmallPieces(await source.open({ start: 0, end: source.sizeBytes }));
}

/** Reads a stream in pieces that are small enough for a decompressor. */
export async function* readSmallPieces(
  stream: ReadableStream<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      yield* splitPiece(value);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
    reader.releaseLock();
  }
}

/** Splits bytes into pieces that are small enough for a decompressor. */
export function* splitPiece(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    yield bytes.subarray(at, at + PIECE_BYTES);
  }
}
