import { invalidField } from "../../../lib/failure.ts";
import { formatTime } from "../../../lib/time.ts";

/** The day of a time, in UTC, as fields for dates have it: `2026-12-31`. */
export const formatDay = (time: number): string => formatTime(time).slice(0, 10);

/**
 * The last second of a day in a field for dates, in UTC, as milliseconds; null for an empty field.
 *
 * @throws Failure `invalid` for anything that is no day from 1970 to 9999.
 */
export function readDay(field: string, text: string): number | null {
  if (text === "") return null;
  const time = Date.parse(`${text}T23:59:59Z`);
  // A day that its month does not have is read as one of the next month.
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || !(time >= 0) || formatDay(time) !== text) {
    throw invalidField(field, "must be a day such as 2026-12-31");
  }
  return time;
}
