import {
  type ConditionalRequest,
  type Validators,
  evaluateConditions,
  versionHeaders,
} from "./conditional-request.ts";
import { formatFilename } from "./header-value.ts";
import { streamOf } from "./stream-of.ts";

/** A file that is generated while it is sent. */
export interface Download extends Validators {
  readonly name: string;
  readonly mediaType: string;
  /** A URL that always serves this same file; undefined if there is none. */
  readonly immutableUrl: string | undefined;
  /** Called at most once, and only if the body is sent. */
  readonly open: () => Promise<AsyncGenerator<Uint8Array>>;
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
  request: ConditionalRequest,
  { name, mediaType, immutableUrl, open, ...version }: Download,
  onEnd: (sentBytes: number) => void,
): Promise<Response> {
  const headers: Record<string, string> = {
    "Content-Type": mediaType,
    "Content-Disposition": `attachment; ${formatFilename(name)}`,
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
    ...versionHeaders(version),
    "Access-Control-Expose-Headers": "Content-Disposition, ETag, Link",
  };
  if (immutableUrl !== undefined) headers["Link"] = `<${immutableUrl}>; rel="immutable"`;
  const { status } = evaluateConditions(request, version);
  if (status !== 200 || request.method === "HEAD") return new Response(null, { status, headers });
  return new Response(streamOf(await open(), onEnd), { headers });
}
