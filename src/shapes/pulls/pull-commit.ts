import { z } from "@hono/zod-openapi";

import { Commit } from "../git/commit.ts";

/** A commit of a pull request. */
export const PullRequestCommit = Commit.extend({
  note: z
    .string()
    .nullable()
    .optional()
    .openapi({ description: "The git note on the commit; null if there is none" }),
}).openapi("PullRequestCommit");
