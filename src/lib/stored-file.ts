import { type ByteRange, parseRange } from "./byte-range.ts";
import { hasTag } from "./entity-tag.ts";

/** A file of known size that never changes. */
interface StoredFile {
  readonly sizeBytes: number;
  /** The entity tag, without quotes. */
  readonly tag: string;
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
  { method, headers: sent }: Pick<Request, "method" | "headers">,
  { sizeBytes, tag: value, headers: own, open }: StoredFile,
): Promise<Response> {
  const tag = `"${value}"`;
  const headers: Record<string, string> = {
    ...own,
    ETag: tag,
    "Accept-Ranges": "bytes",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
  };
  if (hasTag(sent.get("if-none-match") ?? undefined, value)) {
    return new Response(null, { status: 304, headers });
  }
  const isSame = (sent.get("if-range") ?? tag) === tag;
  const range = isSame ? parseRange(sent.get("range") ?? undefined, sizeBytes) : "whole";
  if (range === "none") {
    headers["Content-Range"] = `bytes */${sizeBytes}`;
    return new Response(null, { status: 416, headers });
  }
  const isWhole = range === "whole";
  const { start, end } = isWhole ? { start: 0, end: sizeBytes } : range;
  if (!isWhole) headers["Content-Range"] = `bytes ${start}-${end - 1}/${sizeBytes}`;
  headers["Content-Length"] = String(end - start);
  const body = method === "HEAD" ? null : await open({ start, end });
  return new Response(body, { status: isWhole ? 200 : 206, headers });
}
