const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** After so many attempts a delivery is given up: a day after the first one, on average. */
export const ATTEMPTS_MAX = 18;

/** The wait after the first attempt is within this, and with each attempt within twice as much. */
const BACKOFF_MS = 30 * SECOND_MS;
const BACKOFF_MS_MAX = 6 * HOUR_MS;
const BACKOFF_MS_MIN = 5 * SECOND_MS;

/** For how long nothing is sent where nobody answered; it doubles with each time. */
const HOOK_BACKOFF_MS = 10 * SECOND_MS;
const HOOK_BACKOFF_MS_MAX = 10 * MINUTE_MS;

const RETRY_AFTER_MS_MAX = 12 * HOUR_MS;

/**
 * How long to wait until a delivery is tried again: anything up to a bound that doubles, so that what
 * failed together does not come back together.
 *
 * @param attemptCount Attempts that were made, from 1.
 * @param chance       From 0 to below 1.
 */
export function backoffMs(attemptCount: number, chance: number): number {
  const most = Math.min(BACKOFF_MS * 2 ** (attemptCount - 1), BACKOFF_MS_MAX);
  return Math.round(BACKOFF_MS_MIN + chance * (most - BACKOFF_MS_MIN));
}

/**
 * For how long a hook gets nothing after nobody answered, so that a receiver that is away costs one
 * attempt in that time, however much waits for it.
 *
 * @param failureCount Attempts in a row that failed, from 1.
 */
export const hookBackoffMs = (failureCount: number): number =>
  Math.min(HOOK_BACKOFF_MS * 2 ** (failureCount - 1), HOOK_BACKOFF_MS_MAX);

/** @see RFC 9110, section 5.6.7: the one form of dates that may be sent today. */
const HTTP_DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/;

/**
 * How long a receiver asks to wait, as far as it is heeded.
 *
 * @param header Its `Retry-After`: seconds or a date.
 * @returns Undefined where it says nothing of the future.
 * @see RFC 9110, section 10.2.3.
 */
export function parseRetryAfter(header: string | null, now: number): number | undefined {
  const text = header?.trim() ?? "";
  let waitMs = Number.NaN;
  if (/^\d{1,15}$/.test(text)) waitMs = Number(text) * SECOND_MS;
  else if (HTTP_DATE.test(text)) waitMs = Date.parse(text) - now;
  return waitMs > 0 ? Math.min(waitMs, RETRY_AFTER_MS_MAX) : undefined;
}
