import { waitUntil } from "cloudflare:workers";

import type { FileCache } from "./bucket.ts";

/** Lifetime of a cached file, in seconds. Files never change; deleted files expire. */
const MAX_AGE_SECONDS = 7 * 24 * 60 * 60;

/** URLs of cached files. Requests to the service can't have this host. */
const urlOf = (key: string): string => `https://packs.invalid/${key}`;

// Opened for each use: a promise of one request must not be awaited by another.
const open = (): Promise<Cache> => caches.open("packs");

/**
 * The cache of immutable files in the data center that serves the request.
 *
 * The bucket stays the source: a miss, a truncated file or an error of the cache leads to a read
 * from the bucket and never fails a request.
 */
export const edgeCache: FileCache = {
  async get(key, length) {
    try {
      const cache = await open();
      const found = await cache.match(urlOf(key));
      const bytes = found && new Uint8Array(await found.arrayBuffer());
      return length === undefined || bytes?.length === length ? bytes : undefined;
    } catch {
      return undefined;
    }
  },

  async open(key) {
    try {
      const cache = await open();
      const found = await cache.match(urlOf(key));
      return found?.body ?? undefined;
    } catch {
      return undefined;
    }
  },

  /** Stores a copy of the bytes in the background. */
  put(key, bytes) {
    const headers = { "Cache-Control": `public, max-age=${MAX_AGE_SECONDS}, immutable` };
    const copy = new Response(bytes.slice(), { headers });
    const work = open().then((cache) => cache.put(urlOf(key), copy));
    waitUntil(work.catch(() => undefined));
  },
};
