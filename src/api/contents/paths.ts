import { z } from "@hono/zod-openapi";

import { RepoPath } from "../repos/paths.ts";

/** A path within a repository, which takes the rest of the address. */
export const FilePath = RepoPath.extend({
  filepath: z.string().openapi({ description: "Names separated by slashes" }),
});

/** At which commit contents are read. */
export const RefQuery = z.object({
  ref: z
    .string()
    .default("")
    .openapi({ description: "A branch, tag or commit; the default branch, if empty" }),
});
