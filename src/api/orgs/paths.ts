import { z } from "@hono/zod-openapi";

import { PathId } from "../path-id.ts";

/** The path parameter of an organization; names match in any case. */
export const OrgPath = z.object({
  org: z.string().openapi({ description: "The organization's name" }),
});

/** The path parameter of a team. */
export const TeamPath = z.object({ id: PathId });
