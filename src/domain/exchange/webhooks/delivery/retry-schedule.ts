const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** A delivery is given up after this many attempts: on average a day after the first one. */
export const ATTEMPTS_MAX = 18;

/** Bound of the delay after the first attempt; it doubles with each further attempt. */
const BACKOFF_MS = 30 * SECOND_MS;
const BACKOFF_MS_MAX = 6 * HOUR_MS;
const BACKOFF_MS_MIN = 5 * SECOND_MS;

/** Backoff of a hook whose receiver sent no response; it doubles with each failure. */
const HOOK_BACKOFF_MS = 10 * SECOND_MS;
const HOOK_BACKOFF_MS_MAX = 10 * MINUTE_MS;

const RETRY_AFTER_MS_MAX = 12 * HOUR_MS;

/**
 * The delay until the next attempt of a delivery: random below a bound that doubles, so that
 * deliveries that failed together are not retried together.
 *
 * @param attemptCount Attempts made so far, from 1.
 * @param chance       From 0 to below 1.
 */
export function backoffMs(attemptCount: number, chance: number): number {
  const boundMs = Math.min(BACKOFF_MS * 2 ** (attemptCount - 1), BACKOFF_MS_MAX);
  return Math.round(BACKOFF_MS_MIN + chance * (boundMs - BACKOFF_MS_MIN));
}

/**
 * The backoff of a hook whose receiver sent no response: an unreachable receiver costs one attempt
 * in that time, however many deliveries are pending.
 *
 * @param failureCount Consecutive failed attempts, from 1.
 */
export const hookBackoffMs = (failureCount: number): number =>
  Math.min(HOOK_BACKOFF_MS * 2 ** (failureCount - 1), HOOK_BACKOFF_MS_MAX);

/** @see RFC 9110, section 5.6.7: the only date format that senders may still generate. */
const HTTP_DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/;

/**
 * Parses the delay that a receiver requests, capped at 12 hours.
 *
 * @param header The `Retry-After` header: seconds or a date.
 * @returns Undefined if the header is missing, invalid, or not in the future.
 * @see RFC 9110, section 10.2.3.
 */
export function parseRetryAfter(header: string | null, now: number): number | undefined {
  const text = header?.trim() ?? "";
  let waitMs = Number.NaN;
  if (/^\d{1,15}$/.test(text)) waitMs = Number(text) * SECOND_MS;
  else if (HTTP_DATE.test(text)) waitMs = Date.parse(text) - now;
  return waitMs > 0 ? Math.min(waitMs, RETRY_AFTER_MS_MAX) : undefined;
}
