import { createDeflateRaw, createGzip, deflateRawSync } from "node:zlib";

import type { Compressor, Deflating } from "../git/codec.ts";

/** Pieces in which compressed bytes come, at most. */
const PIECE_BYTES = 64 * 1024;

/**
 * The host's compression. Its `CompressionStream` would take a whole stream in before anybody reads:
 * here nothing is taken before what came of the piece before is handed out.
 */
export const compressor: Compressor = {
  deflateRaw: (bytes) => deflateRawSync(bytes),
  open: (format) => {
    const options = { chunkSize: PIECE_BYTES };
    return openDeflating(format === "gzip" ? createGzip(options) : createDeflateRaw(options));
  },
};

function openDeflating(stream: ReturnType<typeof createGzip>): Deflating {
  let made: Uint8Array[] = [];
  // Copied: pieces share memory, which whoever sends them gives away.
  stream.on("data", (bytes: Uint8Array) => made.push(new Uint8Array(bytes)));
  const take = (): Uint8Array[] => {
    const taken = made;
    made = [];
    return taken;
  };
  const run = (start: (settle: (error?: Error | null) => void) => void): Promise<Uint8Array[]> =>
    new Promise((resolve, reject) => {
      const onError = (error: Error): void => reject(error);
      stream.once("error", onError);
      start((error) => {
        stream.off("error", onError);
        if (error) reject(error);
        else resolve(take());
      });
    });
  return {
    push: (bytes) => run((settle) => stream.write(bytes, settle)),
    finish: () =>
      run((settle) => {
        stream.once("end", () => settle());
        stream.end();
      }),
    close: () => stream.destroy(),
  };
}
