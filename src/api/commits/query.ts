import { z } from "@hono/zod-openapi";

import type { CommitParts } from "../../domain/code/commits/read-commits.ts";
import { queryFlag } from "../paging.ts";
import { RepoPath } from "../repos/paths.ts";

/** The path parameters of a commit. */
export const CommitPath = RepoPath.extend({
  sha: z.string().openapi({ description: "Branch, tag, or commit id, which may be abbreviated" }),
});

/** Flags that omit parts of a commit. */
export const ShownParts = z.object({
  stat: queryFlag("Whether to count changed lines; the default is true"),
  verification: queryFlag("Whether to include signatures; the default is true"),
  files: queryFlag("Whether to list changed files; the default is true"),
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
