import { z } from "@hono/zod-openapi";

/** The query of a request to block a user. */
export const BlockQuery = z.object({
  note: z
    .string()
    .max(255)
    .default("")
    .openapi({ description: "Why; kept for the account that blocks" }),
});
