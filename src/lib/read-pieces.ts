/** Reader of the platform with `readAtLeast`, which its types lack. */
export interface PatientReader {
  readAtLeast(
    minBytes: number,
    view: Uint8Array<ArrayBuffer>,
  ): Promise<{ value?: Uint8Array<ArrayBuffer>; done: boolean }>;
  cancel(): Promise<void>;
  releaseLock(): void;
}

/**
 * Reads a byte stream in pieces of `pieceBytes`; the last piece may be shorter. If the stream
 * fails, bytes that have arrived since the last piece are lost.
 *
 * Without this, a body arrives in chunks of 4 KB, and each chunk costs a call into the runtime.
 */
export async function* readPieces(
  stream: ReadableStream<Uint8Array>,
  pieceBytes: number,
): AsyncGenerator<Uint8Array> {
  yield* withReader(stream, async function* (reader) {
    for (;;) {
      const { value, done } = await reader.readAtLeast(pieceBytes, new Uint8Array(pieceBytes));
      if (value && value.length > 0) yield value;
      if (done) return;
    }
  });
}

/**
 * Reads a byte stream into buffers with a gap before each piece, into which a header can be
 * written, so that no byte of the stream is copied. The last piece may be shorter.
 *
 * @param sizeBytes The length of the stream.
 * @throws Error if the stream ends before.
 */
export async function* readSpacedPieces(
  stream: ReadableStream<Uint8Array>,
  sizeBytes: number,
  { gapBytes, pieceBytes, count }: { gapBytes: number; pieceBytes: number; count: number },
): AsyncGenerator<Uint8Array> {
  yield* withReader(stream, async function* (reader) {
    for (let left = sizeBytes; left > 0;) {
      const pieces = Math.min(count, Math.ceil(left / pieceBytes));
      const payloadBytes = Math.min(left, pieces * pieceBytes);
      let buffer = new ArrayBuffer(pieces * gapBytes + payloadBytes);
      for (let piece = 0; piece < pieces; piece++) {
        const start = piece * (gapBytes + pieceBytes) + gapBytes;
        const length = Math.min(pieceBytes, left);
        // The read takes the buffer, and gives it back with what it has read.
        const { value } = await reader.readAtLeast(length, new Uint8Array(buffer, start, length));
        if (value?.length !== length) throw new Error("a stream is cut off");
        buffer = value.buffer;
        left -= length;
      }
      yield new Uint8Array(buffer);
    }
  });
}

/**
 * The same as `readPieces`, but if the stream fails, what has arrived is yielded before this
 * throws. Takes a call for each time that bytes arrive, and copies them.
 */
export async function* readArrivedPieces(
  stream: ReadableStream<Uint8Array>,
  pieceBytes: number,
): AsyncGenerator<Uint8Array> {
  yield* withReader(stream, async function* (reader) {
    let piece = new Uint8Array(pieceBytes);
    let pieceLength = 0;
    // A read that fails keeps the buffer that it was given, so that none is read into the piece
    // itself.
    let buffer = new ArrayBuffer(pieceBytes);
    try {
      for (;;) {
        const view = new Uint8Array(buffer, 0, pieceBytes - pieceLength);
        const { value, done } = await reader.readAtLeast(1, view);
        if (value) {
          piece.set(value, pieceLength);
          pieceLength += value.length;
          buffer = value.buffer;
        }
        if (done) break;
        if (pieceLength < pieceBytes) continue;
        yield piece;
        piece = new Uint8Array(pieceBytes);
        pieceLength = 0;
      }
    } catch (error) {
      if (pieceLength > 0) yield piece.subarray(0, pieceLength);
      throw error;
    }
    if (pieceLength > 0) yield piece.subarray(0, pieceLength);
  });
}

async function* withReader(
  stream: ReadableStream<Uint8Array>,
  read: (reader: PatientReader) => AsyncGenerator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader({ mode: "byob" }) as unknown as PatientReader;
  try {
    yield* read(reader);
  } finally {
    try {
      await reader.cancel();
    } finally {
      reader.releaseLock();
    }
  }
}
