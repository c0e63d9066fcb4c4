import { z } from "@hono/zod-openapi";

import type { CommitParts } from "../../domain/commits/read-commits.ts";
import { queryFlag } from "../paging.ts";
import { RepoPath } from "../repos/paths.ts";

/** A commit of a repository. */
export const CommitPath = RepoPath.extend({
  sha: z.string().openapi({ description: "Branch, tag, or commit id, which may be abbreviated" }),
});

/** What of a commit is left out on request. */
export const ShownParts = z.object({
  stat: queryFlag("Whether changed lines are counted; they are if it is missing"),
  verification: queryFlag("Whether signatures are listed; they are if it is missing"),
  files: queryFlag("Whether changed files are named; they are if it is missing"),
});

export const toParts = ({
  stat,
  verification,
  files,
}: z.infer<typeof ShownParts>): CommitParts => ({
  hasStat: stat ?? true,
  hasFiles: files ?? true,
  hasVerification: verification ?? true,
});
