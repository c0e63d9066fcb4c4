import { z } from "@hono/zod-openapi";

import { RepoPath } from "../repos/paths.ts";

/** A branch by its name, which may hold slashes. */
export const BranchPath = RepoPath.extend({
  branch: z.string().openapi({ description: "Its name, slashes and all" }),
});

/** A tag by its name, which may hold slashes. */
export const TagPath = RepoPath.extend({
  tag: z.string().openapi({ description: "Its name, slashes and all" }),
});
