import { hasTag } from "./entity-tag.ts";
import { formatFilename } from "./header-value.ts";
import { streamOf } from "./stream-of.ts";

/** A file that is generated while it is sent. */
export interface Download {
  readonly name: string;
  readonly mediaType: string;
  /** The entity tag, without quotes: equal for equal content. */
  readonly tag: string;
  /** True if two files with the same tag may differ in their bytes. */
  readonly isTagWeak: boolean;
  /** A URL that always serves this same file; undefined if there is none. */
  readonly immutableUrl: string | undefined;
  /** Called at most once, and only if the body is sent. */
  readonly open: () => Promise<AsyncGenerator<Uint8Array>>;
}

/** The parts of a request that the response depends on. */
export interface DownloadRequest {
  readonly method: string;
  readonly ifNoneMatch: string | undefined;
}

/**
 * Responds with a file, or without a body if the client has the current version or sends HEAD.
 *
 * SECURITY: the file is user content served from the service's own origin. It is sent as an
 * attachment with a sandboxing policy, so that browsers save it and never render it.
 *
 * @param onEnd Called with the number of bytes sent once the body ends.
 */
export async function answerDownload(
  { method, ifNoneMatch }: DownloadRequest,
  { name, mediaType, tag, isTagWeak, immutableUrl, open }: Download,
  onEnd: (sentBytes: number) => void,
): Promise<Response> {
  const headers: Record<string, string> = {
    "Content-Type": mediaType,
    "Content-Disposition": `attachment; ${formatFilename(name)}`,
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
    ETag: `${isTagWeak ? "W/" : ""}"${tag}"`,
    "Access-Control-Expose-Headers": "Content-Disposition, ETag, Link",
  };
  if (immutableUrl !== undefined) headers["Link"] = `<${immutableUrl}>; rel="immutable"`;
  if (hasTag(ifNoneMatch, tag)) return new Response(null, { status: 304, headers });
  if (method === "HEAD") return new Response(null, { headers });
  return new Response(streamOf(await open(), onEnd), { headers });
}
