/** Bytes up to which copying costs nothing. */
const SMALL_BYTES = 1024;

/**
 * A body that is made as fast as it is taken, and not before: a slow client holds one piece.
 *
 * @param onEnd Told how many bytes were handed on, once no more come: also where the client left.
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
        // The stream takes the memory of what it is given, and constants are needed again.
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
