import { z } from "@hono/zod-openapi";

/** The path parameter of an account; names match in any case. */
export const UserPath = z.object({
  username: z.string().openapi({ description: "The user's login name" }),
});
