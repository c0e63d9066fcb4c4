import {
  type ConditionalRequest,
  evaluateConditions,
  versionHeaders,
} from "./conditional-request.ts";
import { streamOf } from "./stream-of.ts";

/** A text that is generated while it is sent. */
export interface StreamedText {
  /**
   * The entity tag, without quotes. It is sent as a weak one: two texts with the same tag mean the
   * same.
   */
  readonly tag: string;
  /** Called at most once, and only if the body is sent. */
  readonly open: () => Promise<AsyncGenerator<Uint8Array>>;
}

/**
 * Responds with a text, or without a body if the client has the current version or sends HEAD.
 *
 * SECURITY: user content from the service's own origin, which browsers must not take for anything
 * but text.
 *
 * @param onEnd Called with the number of bytes sent once the body ends.
 */
export async function answerText(
  request: ConditionalRequest,
  { tag, open }: StreamedText,
  onEnd: (sentBytes: number) => void,
): Promise<Response> {
  const version = { tag, isTagWeak: true };
  const shown = { ...versionHeaders(version), "Access-Control-Expose-Headers": "ETag" };
  const { status } = evaluateConditions(request, version);
  if (status !== 200) return new Response(null, { status, headers: shown });
  const headers = {
    ...shown,
    "Content-Type": "text/plain; charset=utf-8",
    "X-Content-Type-Options": "nosniff",
  };
  if (request.method === "HEAD") return new Response(null, { headers });
  return new Response(streamOf(await open(), onEnd), { headers });
}
