import { z } from "@hono/zod-openapi";

import { invalidField } from "../../lib/failure.ts";
import { parseZonedTime } from "../../lib/time.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const FIRST = 0;
const LAST = Date.UTC(9999, 11, 31);

/** A due date in a body. */
export const dueDate = () =>
  z.iso.datetime({ offset: true }).optional().openapi({ format: "date-time" });

/**
 * The time of a due date, in milliseconds.
 *
 * @throws Failure `invalid` for a date that no answer could show.
 */
export function parseDueDate(text: string): number {
  const time = Date.parse(text);
  if (!(time >= FIRST && time <= LAST)) {
    throw invalidField("due_date", "must be between the years 1970 and 9999");
  }
  return time;
}

/** The last second of the day of a time, where the day begins `offsetMs` before that in UTC. */
export const endOfDay = (time: number, offsetMs = 0): number =>
  Math.floor((time + offsetMs) / DAY_MS) * DAY_MS + DAY_MS - 1000 - offsetMs;

/** The last second of the day that a due date names, in its own offset from UTC. @throws Failure as `parseDueDate`. */
export function parseDueDay(text: string): number {
  const { zone } = parseZonedTime(text);
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2));
  return endOfDay(parseDueDate(text), (zone.startsWith("-") ? -1 : 1) * minutes * 60 * 1000);
}
