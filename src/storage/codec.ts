import { createHash } from "node:crypto";
import { deflateSync, inflateSync } from "node:zlib";

import type { Codec } from "../git/codec.ts";

/** The host's part of the engine. */
export const codec: Codec = {
  createSha1: () => createHash("sha1"),
  deflate: (bytes) => deflateSync(bytes),
  inflate: (bytes, sizeBytes) =>
    // A byte more than is needed: a piece that is full is followed by another one of its size.
    // Of the two hosts one allocates by the first and the other counts what it allocates by the second.
    inflateSync(bytes, { chunkSize: sizeBytes + 1, maxOutputLength: 4 * sizeBytes }),
};
