import type { Ctx } from "../../../context.ts";
import { invalid } from "../../../lib/failure.ts";

/** How long the names of an address may take to be looked up. */
const LOOKUP_MS_MAX = 2000;

/**
 * Refuses an address that nothing may be delivered to: anything but http and https with a host, what
 * hides where it leads, and what the service may not reach. One that nobody knows yet is let through.
 *
 * Every address comes by here when a hook is made and when it is changed; where it resolves to is
 * judged again on each delivery.
 *
 * @throws Failure `invalid`.
 */
export async function validateHookUrl({ outgoing }: Ctx, url: string): Promise<void> {
  // SECURITY: the parser takes line breaks and tabs out without a word, and knows backslashes as slashes.
  // oxlint-disable-next-line no-control-regex -- these are what is refused
  const isPlain =
    /^https?:\/\/[^/?#@\\]+(?:[/?#][^\\]*)?$/i.test(url) && !/[\0-\x20\x7f]/.test(url);
  if (!isPlain || !URL.canParse(url)) throw invalid("Invalid url");
  const { hostname, username, password } = new URL(url);
  if (hostname === "" || username !== "" || password !== "") throw invalid("Invalid url");
  const refusal = await outgoing.check(url, LOOKUP_MS_MAX);
  if (refusal?.kind === "blocked") throw invalid(`Invalid url: ${refusal.reason}`);
}
