import { z } from "@hono/zod-openapi";

/** An id in a path: a positive integer; anything else is answered 404. */
export const PathId = z
  .string()
  .regex(/^[1-9]\d{0,14}$/)
  .transform(Number)
  .openapi({ type: "integer", format: "int64" });
