import { z } from "@hono/zod-openapi";

import { invalidField } from "../../lib/failure.ts";

const FIRST = Date.UTC(1970, 0);
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
