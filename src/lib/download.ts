import { hasTag } from "./entity-tag.ts";
import { formatFilename } from "./header-value.ts";
import { streamOf } from "./stream-of.ts";

/** A file that is made while it is sent. */
export interface Download {
  readonly name: string;
  readonly mediaType: string;
  /** The same for what is the same. */
  readonly tag: string;
  /** True if two files of one tag may differ in their bytes. */
  readonly isTagWeak: boolean;
  /** Where the same file is found for ever; undefined if it is nowhere. */
  readonly immutableUrl: string | undefined;
  /** Called at most once, and only if somebody takes the file. */
  readonly open: () => Promise<AsyncGenerator<Uint8Array>>;
}

/** What of a request an answer depends on. */
export interface DownloadRequest {
  readonly method: string;
  readonly ifNoneMatch: string | undefined;
}

/**
 * Answers with a file, or without it where the caller has it or asks for its headers alone.
 *
 * SECURITY: a file is somebody's, at the service's own address: it is kept, never shown.
 *
 * @param onEnd Told how many bytes were sent, once no more come.
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
