import { createHash } from "node:crypto";
import { deflateSync, inflateSync } from "node:zlib";
import type { Codec } from "../../../src/git/codec.ts";

/** The host's functions for the engine, implemented with Node. */
export const codec: Codec = {
  createSha1: () => createHash("sha1"),
  deflate: (bytes) => deflateSync(bytes),
  inflate: (bytes, sizeBytes) => inflateSync(bytes, { chunkSize: sizeBytes }),
};
