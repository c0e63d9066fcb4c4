import { invalid } from "../../lib/failure.ts";

/**
 * Refuses an address that nothing may be delivered to: anything but http and https with a host, and
 * what hides where it leads.
 *
 * Every address comes by here when a hook is made and when it is changed; where it resolves to is
 * judged again on each delivery.
 *
 * @throws Failure `invalid`.
 */
export function judgeTarget(url: string): void {
  // SECURITY: the parser takes line breaks and tabs out without a word, and knows backslashes as slashes.
  // oxlint-disable-next-line no-control-regex -- these are what is refused
  const isPlain =
    /^https?:\/\/[^/?#@\\]+(?:[/?#][^\\]*)?$/i.test(url) && !/[\0-\x20\x7f]/.test(url);
  if (!isPlain || !URL.canParse(url)) throw invalid("Invalid url");
  const { hostname, username, password } = new URL(url);
  if (hostname === "" || username !== "" || password !== "") throw invalid("Invalid url");
}
