import { z } from "@hono/zod-openapi";

/** A repository by the names in its address, whatever their case. */
export const RepoPath = z.object({
  owner: z.string().openapi({ description: "The user or organization that owns it" }),
  repo: z.string().openapi({ description: "Its name" }),
});
