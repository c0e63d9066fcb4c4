/** Pieces as a stream, for libraries that take streams. */
export interface PieceStream {
  readonly stream: ReadableStream<Uint8Array>;
  /**
   * The error that the pieces threw, if they did: a library may report another one in its place.
   */
  readonly fault: () => { readonly error: unknown } | undefined;
}

/** Makes a stream that takes each piece only when the reader pulls it. */
export function toPieceStream(pieces: AsyncIterable<Uint8Array>): PieceStream {
  const iterator = pieces[Symbol.asyncIterator]();
  let fault: { readonly error: unknown } | undefined;
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { value, done } = await iterator.next();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          fault = { error };
          controller.error(error);
        }
      },
      async cancel() {
        await iterator.return?.(undefined);
      },
    },
    { highWaterMark: 0 },
  );
  return { stream, fault: () => fault };
}
