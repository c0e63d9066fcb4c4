import { z } from "@hono/zod-openapi";

import { formatTime } from "../lib/time.ts";

/** A 64-bit integer, the type of ids and counters. */
export const Int64 = z.int().openapi({ format: "int64" });

/** RFC 3339 in UTC. */
export const Time = z.string().openapi({ format: "date-time", example: "2026-01-31T08:15:00Z" });

/** A time, or null. */
export const TimeOrNull = Time.nullable();

/** The time that Gitea's clients read as "never", for fields in which they cannot decode null. */
export const NEVER = formatTime(0);
