import { z } from "@hono/zod-openapi";

import { Commit, type CommitEntry, toCommit } from "../git/commit.ts";
import type { RepositoryContext } from "../repos/repository.ts";
import type { Viewer } from "../viewer.ts";

/** A commit of a pull request. */
export const PullRequestCommit = Commit.extend({
  note: z.string().nullable().optional().openapi({
    description: "The git note on the commit; null if there is none. Missing if not requested",
  }),
}).openapi("PullRequestCommit");

/** @param note Null if the commit has none, undefined if it is not shown. */
export const toPullRequestCommit = (
  repo: Pick<RepositoryContext, "row" | "owner">,
  entry: CommitEntry,
  note: string | null | undefined,
  viewer: Viewer,
): z.infer<typeof PullRequestCommit> => ({
  ...toCommit(repo, entry, viewer),
  ...(note !== undefined && { note }),
});
