import { parseDueDate } from "./due-date.ts";

/** The time that clients in Go send for none. */
const ZERO = Date.parse("0001-01-01T00:00:00Z");

/**
 * An optional time in a body, in milliseconds; null for the time that means none.
 *
 * @param parse Parses any other time, by its field for the refusal.
 */
export const readSentTime = (field: string, text: string, parse = parseDueDate): number | null =>
  Date.parse(text) === ZERO ? null : parse(text, field);
