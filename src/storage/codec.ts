import { createHash } from "node:crypto";
import { constants, deflateRawSync, deflateSync, inflateSync } from "node:zlib";

import type { Codec } from "../git/codec.ts";

/** The engine's hashing and compression, by Node's modules. */
export const codec: Codec = {
  createSha1: () => createHash("sha1"),
  deflate: (bytes, level = constants.Z_DEFAULT_COMPRESSION) => deflateSync(bytes, { level }),
  deflateBlocks: (bytes) => deflateRawSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH }),
  inflate: (bytes, sizeBytes) =>
    // One byte more than needed, since zlib allocates a further chunk after a full one. Of the two
    // runtimes (Node, workerd) one allocates by chunkSize, the other checks allocations by
    // maxOutputLength.
    inflateSync(bytes, { chunkSize: sizeBytes + 1, maxOutputLength: 4 * sizeBytes }),
};
