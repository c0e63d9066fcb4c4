import { z } from "@hono/zod-openapi";

/** An id in a path: a whole number, or nothing that exists. */
export const PathId = z
  .string()
  .regex(/^[1-9]\d{0,14}$/)
  .transform(Number)
  .openapi({ type: "integer", format: "int64" });
