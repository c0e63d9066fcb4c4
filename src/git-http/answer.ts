import { log } from "../lib/log.ts";
import type { StorageUsage } from "../storage/storage-usage.ts";

/** A response in git's protocol, which no proxy may cache. */
export function gitAnswer(
  contentType: string,
  body: Uint8Array | ReadableStream<Uint8Array>,
): Response {
  return new Response(body as BodyInit, {
    headers: {
      "Content-Type": `application/x-${contentType}`,
      "Cache-Control": "no-cache, max-age=0, must-revalidate",
      Expires: "Fri, 01 Jan 1980 00:00:00 GMT",
      Pragma: "no-cache",
    },
  });
}

/**
 * Logs the total costs of a streamed response, whose `request` log line is written before its body.
 */
export function logSent(requestId: string, usage: StorageUsage, sentBytes: number): void {
  log("git:sent", { id: requestId, ...usage.counts(), sentBytes });
}
