import { sql, type SQL } from "drizzle-orm";

import { isBlockedBy } from "../../../auth/access/blocks.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";

/**
 * The condition that the owner or the author of an issue blocks a user, who then can't cause
 * entries of its timeline.
 */
export const isBlockedFromIssue = (
  userId: SQL,
  { repo, row }: Pick<IssueContext, "repo" | "row">,
): SQL => isBlockedBy(userId, sql`${repo.row.ownerId}`, sql`${row.posterId}`);
