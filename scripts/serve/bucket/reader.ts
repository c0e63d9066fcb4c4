import { DurableObject } from "cloudflare:workers";

import { locate } from "./locate.ts";
import type { LocateRequest } from "./protocol.ts";

/**
 * Reads the tables of a bucket whose {@link LocalBucket} is in another process, and answers where
 * the bytes of a key are.
 *
 * It does not find what the other process has to answer: keys that do not exist, and bytes in
 * several files, which need a lease.
 */
export class BucketReader extends DurableObject {
  override async fetch(request: Request): Promise<Response> {
    const located = this.#locate(await request.json());
    const isFound = located && located.pieces.length <= 1;
    return isFound ? Response.json(located) : new Response(null, { status: 404 });
  }

  #locate(request: LocateRequest) {
    try {
      return locate(this.ctx.storage.sql, request);
    } catch {
      return undefined; // the other process has not made the tables yet
    }
  }
}
