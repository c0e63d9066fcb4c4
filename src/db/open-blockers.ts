import { type SQL, sql } from "drizzle-orm";

/** The condition that an issue or pull request must wait for others. */
export const hasOpenBlockers = (issueId: SQL): SQL => sql`exists (
  select 1
  from issue_dependencies dependency
  join issues blocker on blocker.id = dependency.blocker_id
  -- An issue of a deleted repository blocks nothing.
  join repositories on repositories.id = blocker.repo_id
  where dependency.issue_id = ${issueId} and not blocker.is_closed
)`;
