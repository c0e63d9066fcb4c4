import { z } from "@hono/zod-openapi";

/** The path parameter of an organization; names match in any case. */
export const OrgPath = z.object({
  org: z.string().openapi({ description: "The organization's name" }),
});
