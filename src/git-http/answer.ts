import { log } from "../lib/log.ts";
import type { StorageUsage } from "../storage/storage-usage.ts";

/** An answer in git's own words, which nothing on the way may keep. */
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

/** Logs what an answer that is streamed took in all: its `request` line is written as it begins. */
export function logSent(requestId: string, usage: StorageUsage, sentBytes: number): void {
  log("git:sent", { id: requestId, ...usage.counts(), sentBytes });
}
