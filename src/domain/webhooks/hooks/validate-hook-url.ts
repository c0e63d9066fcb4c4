import type { Ctx } from "../../../context.ts";
import { invalid } from "../../../lib/failure.ts";

/** Timeout for resolving a host name. */
const LOOKUP_MS_MAX = 2000;

/**
 * Refuses a URL that the service must not deliver to: a scheme other than http and https, no host,
 * credentials or characters that disguise the host, and addresses that egress rules block. A host name that
 * does not resolve yet is accepted.
 *
 * Runs for the URL of every hook that is created or edited; the resolved address is checked again on each
 * delivery.
 *
 * @throws Failure `invalid`.
 */
export async function validateHookUrl({ outgoing }: Ctx, url: string): Promise<void> {
  // SECURITY: the URL parser silently removes line breaks and tabs, and treats backslashes as slashes.
  // oxlint-disable-next-line no-control-regex -- control characters are what the pattern refuses
  const isPlain =
    /^https?:\/\/[^/?#@\\]+(?:[/?#][^\\]*)?$/i.test(url) && !/[\0-\x20\x7f]/.test(url);
  if (!isPlain || !URL.canParse(url)) throw invalid("Invalid url");
  const { hostname, username, password } = new URL(url);
  if (hostname === "" || username !== "" || password !== "") throw invalid("Invalid url");
  const refusal = await outgoing.check(url, LOOKUP_MS_MAX);
  if (refusal?.kind === "blocked") throw invalid(`Invalid url: ${refusal.reason}`);
}
