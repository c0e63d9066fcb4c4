import { z } from "@hono/zod-openapi";

import { RepoPath } from "../repos/paths.ts";

/** The path parameters of a branch, whose name may contain slashes. */
export const BranchPath = RepoPath.extend({
  branch: z.string().openapi({ description: "The branch's name, which may contain slashes" }),
});

/** The path parameters of a tag, whose name may contain slashes. */
export const TagPath = RepoPath.extend({
  tag: z.string().openapi({ description: "The tag's name, which may contain slashes" }),
});
