import { z } from "@hono/zod-openapi";

/** An organization by its name, whatever its case. */
export const OrgPath = z.object({
  org: z.string().openapi({ description: "The organization's name" }),
});
