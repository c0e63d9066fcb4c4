/** The platform's way to wait for more than the next few bytes, which its types do not know. */
interface PatientReader {
  readAtLeast(
    minBytes: number,
    view: Uint8Array<ArrayBuffer>,
  ): Promise<{ value?: Uint8Array; done: boolean }>;
  cancel(): Promise<void>;
}

/**
 * A stream of bytes in pieces of `pieceBytes`; the last may be shorter.
 *
 * As it comes, a body is cut into pieces of 4 KB, and each costs a step into the runtime.
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
    await reader.cancel();
  }
}
