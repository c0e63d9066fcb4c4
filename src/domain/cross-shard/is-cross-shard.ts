import type { IssueContext } from "../../shapes/issues/issue.ts";

/** Whether two issues are in different databases. */
export const isCrossShard = (
  { repo: one }: Pick<IssueContext, "repo">,
  { repo: other }: Pick<IssueContext, "repo">,
): boolean => one.row.shard !== other.row.shard;
