import { constants, createDeflate, createDeflateRaw, createGzip, deflateRawSync } from "node:zlib";

import type { Compressor, Deflating } from "../git/codec.ts";

/** Maximum size of a piece of compressed output, in bytes. */
const PIECE_BYTES = 64 * 1024;

/**
 * Compression by Node's zlib. The runtime's `CompressionStream` buffers a whole stream before it is
 * read; here `push` resolves with its output before the next input is accepted.
 */
export const compressor: Compressor = {
  deflateRaw: (bytes) => deflateRawSync(bytes),
  open: (format, level = constants.Z_DEFAULT_COMPRESSION) =>
    openDeflating(CREATE[format]({ chunkSize: PIECE_BYTES, level })),
};

const CREATE = { raw: createDeflateRaw, zlib: createDeflate, gzip: createGzip };

function openDeflating(stream: ReturnType<typeof createGzip>): Deflating {
  let output: Uint8Array[] = [];
  // Copied, since pieces share a buffer and sending a piece may transfer it.
  stream.on("data", (bytes: Uint8Array) => output.push(new Uint8Array(bytes)));
  const take = (): Uint8Array[] => {
    const taken = output;
    output = [];
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
