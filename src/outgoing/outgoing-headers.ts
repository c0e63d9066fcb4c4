import { type Blocked, blocked } from "./outcome.ts";

/** Headers of the connection and the message framing, which the platform sets, and `Host`. */
const FORBIDDEN =
  /^(host|connection|content-length|expect|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/i;

/** A token of RFC 9110, section 5.6.2. */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/;

/** Header values are bytes, so characters beyond Latin-1 are refused. */
const VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]{0,8192}$/;

/** Names of headers that are always treated as secrets. */
const SECRET = /^(authorization|cookie)$|token|secret|password|api-?key/i;

/** Whether a header is secret, and so is dropped on a redirect to another host. */
export type IsSecret = (name: string) => boolean;

/** @param more Names of secret headers, besides those that match `SECRET`. */
export function secretNames(more: readonly string[] = []): IsSecret {
  const named = new Set(more.map((name) => name.toLowerCase()));
  return (name) => SECRET.test(name) || named.has(name.toLowerCase());
}

/**
 * Validates the headers of a request.
 *
 * SECURITY: a value with a line break would start another header, and `Host` would select a host
 * other than the one that was checked.
 *
 * @param userAgent The default `User-Agent`, which `given` may override.
 */
export function readHeaders(
  given: Readonly<Record<string, string>>,
  userAgent: string,
): Headers | Blocked {
  const headers = new Headers({ "User-Agent": userAgent });
  for (const [name, value] of Object.entries(given)) {
    if (!NAME.test(name) || FORBIDDEN.test(name)) return blocked("a header may not be set");
    if (!VALUE.test(value)) {
      return blocked("a header has characters that none may have");
    }
    headers.set(name, value);
  }
  return headers;
}
