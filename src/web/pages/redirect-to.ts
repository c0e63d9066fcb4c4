/** A base for checking whether a path leaves its origin. */
const HERE = "https://here.invalid";

/**
 * The path and query to which a page leads after it is done, as its address states it.
 *
 * SECURITY: leads nowhere else: browsers read `//host`, `/\host`, and both with tabs or newlines
 * between, as other hosts.
 *
 * @returns Undefined for anything but a path of this service.
 */
export function readRedirectTo(text: string | undefined): string | undefined {
  if (text === undefined || !/^\/(?![/\\])/.test(text)) return undefined;
  // oxlint-disable-next-line no-control-regex -- browsers leave these out of addresses
  if (/[\u0000-\u001F\u007F\\]/.test(text) || !URL.canParse(text, HERE)) return undefined;
  const { origin, pathname, search } = new URL(text, HERE);
  return origin === HERE && !pathname.startsWith("//") ? pathname + search : undefined;
}

/**
 * The path of a request as a page may link to it.
 *
 * SECURITY: a path that begins with two slashes would lead to another host.
 */
export const ownPath = (url: string): string => new URL(url).pathname.replace(/^\/+/, "/");

/** `path` with the address to which it leads afterwards. */
export const withRedirectTo = (path: string, to: string | undefined): string =>
  to === undefined ? path : `${path}?redirect_to=${encodeURIComponent(to)}`;
