/** Chunks up to this many bytes are copied, at negligible cost. */
const SMALL_BYTES = 1024;

/**
 * Makes a stream that pulls each piece only when the consumer reads, so a slow client holds one
 * piece in memory.
 *
 * @param onEnd Called with the number of bytes enqueued once the stream ends, fails or is
 *   cancelled.
 */
export function streamOf(
  pieces: AsyncGenerator<Uint8Array>,
  onEnd: (sentBytes: number) => void,
): ReadableStream<Uint8Array> {
  let sentBytes = 0;
  const next = async (): Promise<IteratorResult<Uint8Array>> => {
    try {
      return await pieces.next();
    } catch (error) {
      onEnd(sentBytes);
      throw error;
    }
  };
  return new ReadableStream({
    type: "bytes",
    async pull(controller) {
      for (;;) {
        const { value, done } = await next();
        if (done) {
          onEnd(sentBytes);
          controller.close();
          controller.byobRequest?.respond(0);
          return;
        }
        if (value.length === 0) continue;
        sentBytes += value.length;
        // `enqueue` detaches the buffer of its chunk. Small pieces may be constants that are used
        // again.
        const isSmall = value.length < SMALL_BYTES;
        controller.enqueue((isSmall ? value.slice() : value) as Uint8Array<ArrayBuffer>);
        return;
      }
    },
    async cancel() {
      try {
        await pieces.return(undefined);
      } finally {
        onEnd(sentBytes);
      }
    },
  });
}
