const HEADER_LENGTH_MAX = 8192;

/**
 * The query of the link to the next page, such as `?page=2&limit=50`; undefined if there is none.
 *
 * @param header Value of the `Link` header.
 * @param base   The address that was asked for: links may be relative to it.
 * @see RFC 8288, section 3.
 */
export function findNextQuery(header: string | null, base: URL): string | undefined {
  if (header === null || header.length > HEADER_LENGTH_MAX) return undefined;
  for (const [, target = "", parameters = ""] of header.matchAll(/<([^<>]*)>([^<]*)/g)) {
    if (!/;\s*rel\s*=\s*(?:next(?![\w-])|"(?:[^"]*\s)?next(?:\s[^"]*)?")/i.test(parameters))
      continue;
    const url = URL.parse(target, base);
    if (url) return url.search;
  }
  return undefined;
}
