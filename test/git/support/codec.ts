import { createHash } from "node:crypto";
import { constants, deflateRawSync, deflateSync, inflateSync } from "node:zlib";
import type { Codec } from "../../../src/git/codec.ts";

/** The host's functions for the engine, implemented with Node. */
export const codec: Codec = {
  createSha1: () => createHash("sha1"),
  deflate: (bytes, level = 6) => deflateSync(bytes, { level }),
  deflateBlocks: (bytes) => deflateRawSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH }),
  inflate: (bytes, sizeBytes) => inflateSync(bytes, { chunkSize: sizeBytes }),
};
