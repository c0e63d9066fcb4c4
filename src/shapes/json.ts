import { z } from "@hono/zod-openapi";

import { formatTime } from "../lib/time.ts";

/** A whole number of 64 bits, as every id and counter is. */
export const Int64 = z.int().openapi({ type: "integer", format: "int64" });

/** RFC 3339 in UTC. */
export const Time = z.string().openapi({ format: "date-time", example: "2026-01-31T08:15:00Z" });

/** A moment, or null where there is none. */
export const TimeOrNull = Time.nullable();

/** The moment clients of the field read as "never happened" in a field that they can't decode null in. */
export const NEVER = formatTime(0);
