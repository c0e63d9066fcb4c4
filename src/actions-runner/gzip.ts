import { Code, ConnectError } from "@connectrpc/connect";
import type { Compression } from "@connectrpc/connect/protocol";

/** Compression of calls and answers. */
export const gzip: Compression = {
  name: "gzip",

  async compress(bytes) {
    const packed = new Blob([bytes as Uint8Array<ArrayBuffer>])
      .stream()
      .pipeThrough(new CompressionStream("gzip"));
    return new Response(packed).bytes() as Promise<Uint8Array<ArrayBuffer>>;
  },

  async decompress(bytes, readMaxBytes) {
    const unpacked = new Blob([bytes as Uint8Array<ArrayBuffer>])
      .stream()
      .pipeThrough(new DecompressionStream("gzip"));
    const pieces: Uint8Array<ArrayBuffer>[] = [];
    let sizeBytes = 0;
    try {
      for await (const piece of unpacked) {
        sizeBytes += piece.length;
        if (sizeBytes > readMaxBytes) {
          throw new ConnectError(`more than ${readMaxBytes} bytes`, Code.ResourceExhausted);
        }
        pieces.push(piece);
      }
    } catch (error) {
      if (error instanceof ConnectError) throw error;
      throw new ConnectError("the call is not what gzip writes", Code.InvalidArgument);
    }
    return new Blob(pieces).bytes() as Promise<Uint8Array<ArrayBuffer>>;
  },
};
