import { z } from "@hono/zod-openapi";

/** A time in the query, in milliseconds; undefined if it is missing or empty. */
export const queryTime = (description: string) =>
  z
    .union([z.literal("").transform(() => undefined), z.iso.datetime({ offset: true })])
    .optional()
    .transform((text) => (text === undefined ? undefined : Date.parse(text)))
    .openapi({ type: "string", format: "date-time", description });

/** The query of a list of what was changed within a range of time. */
export const TimeRange = z.object({
  since: queryTime("Only what was changed at or after this time"),
  before: queryTime("Only what was changed at or before this time"),
});
