/**
 * The beginning of the URL that was asked for last, up to its path, and its origin: callers use
 * few.
 */
let last = { beginning: "", origin: "" };

/**
 * The origin of an absolute http or https URL as the platform writes it: with a slash after the
 * host.
 *
 * @throws TypeError if it is no URL.
 */
export function urlOrigin(url: string): string {
  const pathAt = url.indexOf("/", "https://".length);
  const beginning = pathAt === -1 ? url : url.slice(0, pathAt);
  if (beginning !== last.beginning) last = { beginning, origin: new URL(url).origin };
  return last.origin;
}
