/** A cached file as a stream of bytes, as the data center's cache answers. */
export const streamed = (bytes: Uint8Array | undefined): ReadableStream<Uint8Array> | undefined =>
  bytes && (new Response(bytes.slice()).body ?? undefined);
