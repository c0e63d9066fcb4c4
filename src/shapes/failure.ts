import { z } from "@hono/zod-openapi";

/** The body of error responses. */
export const ApiError = z
  .object({ message: z.string(), url: z.string().openapi({ format: "uri" }) })
  .openapi("APIError");
