import { z } from "@hono/zod-openapi";

/** The path parameters of a repository; names match in any case. */
export const RepoPath = z.object({
  owner: z.string().openapi({ description: "The user or organization that owns the repository" }),
  repo: z.string().openapi({ description: "The repository's name" }),
});
