import { type Blocked, blocked } from "./outcome.ts";

/** Headers that say how a message travels, which is the platform's to say, and for whom it is. */
const FORBIDDEN =
  /^(host|connection|content-length|expect|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/i;

/** A name of RFC 9110, section 5.6.2. */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/;

/** A header carries bytes: what is beyond Latin-1 has none. */
const VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]{0,8192}$/;

/** Headers that are secrets by their names, whoever sets them. */
const SECRET = /^(authorization|cookie)$|token|secret|password|api-?key/i;

/** What another host may not read of headers: those that are secrets by name, and those that the caller names. */
export type IsSecret = (name: string) => boolean;

export function secretNames(more: readonly string[] = []): IsSecret {
  const named = new Set(more.map((name) => name.toLowerCase()));
  return (name) => SECRET.test(name) || named.has(name.toLowerCase());
}

/**
 * The headers of a request.
 *
 * SECURITY: a value with a line break would begin another header, and `Host` would choose another host
 * than the one that was judged.
 *
 * @param userAgent Said unless `given` says another.
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
