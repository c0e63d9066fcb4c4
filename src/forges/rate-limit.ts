import type { ForeignResponse } from "../outgoing/outcome.ts";

/** The delay if a forge states none, as GitHub's documentation asks. */
const DEFAULT_MS = 60_000;
/** No forge's limit lasts longer than an hour; more is a clock that is wrong. */
const LONGEST_MS = 24 * 3600_000;
/** Numbers from here on are seconds since 1970, smaller ones seconds from now. */
const EPOCH_SECONDS_MIN = 1_000_000_000;

/** How much of an answer is searched for words of a limit. */
const MESSAGE_BYTES_MAX = 2000;

/** A response, with its body if that was read. */
interface AnyResponse extends Pick<ForeignResponse, "status" | "headers"> {
  readonly body: unknown;
}

/**
 * When a rate limit ends, in milliseconds; undefined if the answer is not about one.
 *
 * Limits are answered with 429, with 403 and an exhausted allowance, a time or a text, and with 503
 * and a time.
 *
 * @see https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
 * @see https://docs.gitlab.com/administration/settings/user_and_ip_rate_limits/#response-headers
 * @see RFC 9110, section 10.2.3.
 */
export function retryTimeOf(response: AnyResponse, now: number): number | undefined {
  const { status, headers } = response;
  const retryAfter = afterOf(headers.get("Retry-After"), now);
  const isLimit =
    status === 429 ||
    (status === 503 && retryAfter !== undefined) ||
    (status === 403 && (retryAfter !== undefined || isExhausted(headers) || saysLimit(response)));
  if (!isLimit) return undefined;
  const reset = resetOf(headers, now);
  const at = retryAfter ?? reset ?? now + DEFAULT_MS;
  return Math.min(Math.max(at, now + 1000), now + LONGEST_MS);
}

const isExhausted = (headers: Headers): boolean =>
  ["X-RateLimit-Remaining", "RateLimit-Remaining"].some((name) => headers.get(name) === "0");

const saysLimit = ({ body }: AnyResponse): boolean =>
  body instanceof Uint8Array &&
  /rate limit|abuse detection/i.test(new TextDecoder().decode(body.subarray(0, MESSAGE_BYTES_MAX)));

/** `Retry-After`: seconds, or a date. */
function afterOf(text: string | null, now: number): number | undefined {
  if (text === null) return undefined;
  if (/^\d{1,9}$/.test(text)) return now + Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}

function resetOf(headers: Headers, now: number): number | undefined {
  const text = headers.get("X-RateLimit-Reset") ?? headers.get("RateLimit-Reset") ?? "";
  if (!/^\d{1,12}$/.test(text)) return undefined;
  const seconds = Number(text);
  return seconds >= EPOCH_SECONDS_MIN ? seconds * 1000 : now + seconds * 1000;
}
