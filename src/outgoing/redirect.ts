import type { IsSecret } from "./outgoing-headers.ts";

/** A request as one hop sends it. */
export interface Hop {
  method: string;
  headers: Headers;
  body: string | Uint8Array<ArrayBuffer> | undefined;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** What the body is, which goes with it. */
const OF_THE_BODY = /^content-/i;

/** Where an answer sends on to, as it says so; undefined if it doesn't. */
export function findLocation({ status, headers }: Response): string | undefined {
  return REDIRECTS.has(status) ? (headers.get("Location") ?? undefined) : undefined;
}

/**
 * The request as it follows a redirect.
 *
 * SECURITY: what was dropped once stays dropped, also where a later hop leads back.
 *
 * @see The Fetch standard, "HTTP-redirect fetch", for methods and bodies.
 */
export function redirected(hop: Hop, status: number, from: URL, to: URL, isSecret: IsSecret): Hop {
  const { method } = hop;
  const isReadInstead =
    (status === 303 && method !== "GET" && method !== "HEAD") ||
    ((status === 301 || status === 302) && method === "POST");
  const isElsewhere = !mayKnowSecrets(from, to);
  const headers = new Headers();
  for (const [name, value] of hop.headers) {
    if (isReadInstead && OF_THE_BODY.test(name)) continue;
    if (isElsewhere && isSecret(name)) continue;
    headers.append(name, value);
  }
  return isReadInstead ? { method: "GET", headers, body: undefined } : { ...hop, headers };
}

/** The same server by scheme, host and port, or the same host once it is asked over TLS. */
function mayKnowSecrets(from: URL, to: URL): boolean {
  if (from.origin === to.origin) return true;
  const isUpgrade = from.protocol === "http:" && to.protocol === "https:";
  return isUpgrade && from.hostname === to.hostname && from.port === "" && to.port === "";
}
