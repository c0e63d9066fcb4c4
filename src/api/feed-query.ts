import { z } from "@hono/zod-openapi";

import { Activity } from "../shapes/events/activity.ts";
import { page } from "./answers.ts";
import { Paging } from "./paging.ts";

/** The start of a day in UTC, in milliseconds; undefined for a date that does not exist. */
function parseDay(text: string): number | undefined {
  const at = Date.parse(`${text}T00:00:00Z`);
  return Number.isNaN(at) || new Date(at).toISOString().slice(0, 10) !== text ? undefined : at;
}

/** The query of an activity feed. */
export const FeedPaging = Paging.extend({
  date: z
    .string()
    .refine(
      (text) => text === "" || parseDay(text) !== undefined,
      "must be a day, such as 2026-01-31",
    )
    .transform(parseDay)
    .optional()
    .openapi({
      type: "string",
      format: "date",
      description: "Only activities of this day, in UTC",
    }),
});

/** A page of an activity feed. */
export const feedPage = page(z.array(Activity), "The activities, latest first");
