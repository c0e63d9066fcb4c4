import { z } from "@hono/zod-openapi";

/** What every refusal with a body looks like. */
export const ApiError = z
  .object({ message: z.string(), url: z.string().openapi({ format: "uri" }) })
  .openapi("APIError");
