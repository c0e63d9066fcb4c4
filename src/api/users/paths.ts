import { z } from "@hono/zod-openapi";

/** An account by its name, whatever its case. */
export const UserPath = z.object({
  username: z.string().openapi({ description: "Its login name" }),
});
