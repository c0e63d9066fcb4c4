import { invalidField } from "../../lib/failure.ts";

const FIRST = Date.UTC(1970, 0);
const LAST = Date.UTC(9999, 11, 31);
/** The time that clients in Go send for none. */
const ZERO = Date.parse("0001-01-01T00:00:00Z");

/**
 * A time in a body, in milliseconds; null for the time that means none.
 *
 * @param text RFC 3339.
 * @throws Failure `invalid` for a time that no answer could show.
 */
export function readSentTime(field: string, text: string): number | null {
  const time = Date.parse(text);
  if (time === ZERO) return null;
  if (time >= FIRST && time <= LAST) return time;
  throw invalidField(field, "must be between the years 1970 and 9999");
}

/** The last second of the day of a time, in the time's own zone. */
export function endOfDay(text: string): string {
  if (Date.parse(text) === ZERO) return text;
  return text.replace(/T.*?(?=Z|[+-]\d\d:?\d\d$)/i, "T23:59:59");
}
