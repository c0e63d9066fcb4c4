import { createHash } from "node:crypto";
import { deflateSync } from "node:zlib";

import type { Codec } from "../git/codec.ts";

/** The host's part of the engine. */
export const codec: Codec = {
  createSha1: () => createHash("sha1"),
  deflate: (bytes) => deflateSync(bytes),
};
