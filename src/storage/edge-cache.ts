import { waitUntil } from "cloudflare:workers";

import type { FileCache } from "./bucket.ts";

/** How long the data center may keep what it has, in seconds. It never changes; deleted files age out. */
const KEPT_SECONDS = 7 * 24 * 60 * 60;

/** Addresses of the cache's own, which nobody can ask the service for. */
const addressOf = (key: string): string => `https://packs.invalid/${key}`;

// Each time anew: what one request waits for, no other may.
const open = (): Promise<Cache> => caches.open("packs");

/**
 * Bytes that never change, as the data center near the caller has them.
 *
 * Only ever a copy: what it does not have, or gives in part, is read from the bucket, and it fails
 * nobody's request.
 */
export const edgeCache: FileCache = {
  async get(key, length) {
    try {
      const cache = await open();
      const found = await cache.match(addressOf(key));
      const bytes = found && new Uint8Array(await found.arrayBuffer());
      return length === undefined || bytes?.length === length ? bytes : undefined;
    } catch {
      return undefined;
    }
  },

  /** Keeps a copy of the bytes, behind whatever is answered meanwhile. */
  put(key, bytes) {
    const headers = { "Cache-Control": `public, max-age=${KEPT_SECONDS}, immutable` };
    const copy = new Response(bytes.slice(), { headers });
    const work = open().then((cache) => cache.put(addressOf(key), copy));
    waitUntil(work.catch(() => undefined));
  },
};
