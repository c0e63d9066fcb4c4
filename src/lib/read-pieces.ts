/** Reader of the platform with `readAtLeast`, which its types lack. */
interface PatientReader {
  readAtLeast(
    minBytes: number,
    view: Uint8Array<ArrayBuffer>,
  ): Promise<{ value?: Uint8Array; done: boolean }>;
  cancel(): Promise<void>;
  releaseLock(): void;
}

/**
 * Reads a byte stream in pieces of `pieceBytes`; the last piece may be shorter.
 *
 * Without this, a body arrives in chunks of 4 KB, and each chunk costs a call into the runtime.
 */
export async function* readPieces(
  stream: ReadableStream<Uint8Array>,
  pieceBytes: number,
): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader({ mode: "byob" }) as unknown as PatientReader;
  try {
    for (;;) {
      const { value, done } = await reader.readAtLeast(pieceBytes, new Uint8Array(pieceBytes));
      if (value && value.length > 0) yield value;
      if (done) return;
    }
  } finally {
    try {
      await reader.cancel();
    } finally {
      reader.releaseLock();
    }
  }
}
