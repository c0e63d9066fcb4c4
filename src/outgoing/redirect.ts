import type { IsSecret } from "./outgoing-headers.ts";

/** A request as one hop sends it. */
export interface Hop {
  method: string;
  headers: Headers;
  /** A stream only where no redirect is followed. */
  body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | undefined;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Headers that describe the body, dropped together with it. */
const BODY_HEADER = /^content-/i;

/** The `Location` of a redirect, unparsed; undefined if the response is not a redirect. */
export function findLocation({ status, headers }: Response): string | undefined {
  return REDIRECTS.has(status) ? (headers.get("Location") ?? undefined) : undefined;
}

/**
 * Returns the request to send after a redirect.
 *
 * SECURITY: a dropped secret stays dropped, even if a later hop redirects back to the first host.
 *
 * @see The Fetch standard, "HTTP-redirect fetch", for methods and bodies.
 */
export function redirected(hop: Hop, status: number, from: URL, to: URL, isSecret: IsSecret): Hop {
  const { method } = hop;
  const isChangedToGet =
    (status === 303 && method !== "GET" && method !== "HEAD") ||
    ((status === 301 || status === 302) && method === "POST");
  const isOtherServer = !canSeeSecrets(from, to);
  const headers = new Headers();
  for (const [name, value] of hop.headers) {
    if (isChangedToGet && BODY_HEADER.test(name)) continue;
    if (isOtherServer && isSecret(name)) continue;
    headers.append(name, value);
  }
  return isChangedToGet ? { method: "GET", headers, body: undefined } : { ...hop, headers };
}

/**
 * Whether secrets for one address may be sent to another: true for the same origin, and for an
 * upgrade from http to https of the same host at the default ports.
 */
export function canSeeSecrets(from: URL, to: URL): boolean {
  if (from.origin === to.origin) return true;
  const isUpgrade = from.protocol === "http:" && to.protocol === "https:";
  return isUpgrade && from.hostname === to.hostname && from.port === "" && to.port === "";
}
