import { z } from "@hono/zod-openapi";

import { RepoPath } from "../repos/paths.ts";

/** The path parameters of a file; its path is the rest of the URL. */
export const FilePath = RepoPath.extend({
  filepath: z.string().openapi({ description: "The path of the file" }),
});

/** The query that selects the commit to read. */
export const RefQuery = z.object({
  ref: z
    .string()
    .default("")
    .openapi({ description: "A branch, tag or commit; the default branch if empty" }),
});
