import type { ByteRange } from "./byte-range.ts";
import {
  type ConditionalRequest,
  type Validators,
  evaluateConditions,
  versionHeaders,
} from "./conditional-request.ts";

/** A file of known size that never changes under its version. */
interface StoredFile extends Validators {
  readonly sizeBytes: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Opens a range of the file. Called at most once, and only if the body is sent. */
  readonly open: (range: ByteRange) => Promise<ReadableStream | Uint8Array<ArrayBuffer>>;
}

/**
 * Responds with a file or a range of it, or without a body if the client has it or sends HEAD.
 *
 * SECURITY: the file is user content served from the service's own origin. A sandboxing policy
 * keeps browsers from running anything in it, and they take its type as it is stated.
 */
export async function answerStoredFile(
  request: ConditionalRequest,
  { sizeBytes, headers: own, open, ...version }: StoredFile,
): Promise<Response> {
  const headers: Record<string, string> = {
    ...own,
    ...versionHeaders(version),
    "Accept-Ranges": "bytes",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
  };
  const outcome = evaluateConditions(request, version, sizeBytes);
  if (outcome.status === 416) headers["Content-Range"] = `bytes */${sizeBytes}`;
  if (outcome.status !== 200 && outcome.status !== 206) {
    return new Response(null, { status: outcome.status, headers });
  }
  const range = outcome.status === 206 ? outcome.range : { start: 0, end: sizeBytes };
  const { start, end } = range;
  if (outcome.status === 206) headers["Content-Range"] = `bytes ${start}-${end - 1}/${sizeBytes}`;
  headers["Content-Length"] = String(end - start);
  const body = request.method === "HEAD" ? null : await open(range);
  return new Response(body, { status: outcome.status, headers });
}
