import type { User } from "../../../db/schema/index.ts";
import { forbidden, malformed } from "../../../lib/failure.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { isIssueWritable } from "../issue/find-issue.ts";

/** Whether a repository tracks time. */
export const isTrackerOn = ({ row }: RepositoryContext): boolean =>
  row.issueSettings.enableTimeTracker;

/** @throws Failure `malformed` where a repository does not track time, as in Gitea. */
export function requireTracker(repo: RepositoryContext): void {
  if (!isTrackerOn(repo)) throw malformed("time tracking disabled");
}

/**
 * Whether a user may spend time on an issue that the user sees: everybody, or writers and assignees
 * where the repository's settings limit it to contributors.
 */
export const maySpendTime = (issue: IssueContext, { id }: User): boolean =>
  isTrackerOn(issue.repo) &&
  (!issue.repo.row.issueSettings.allowOnlyContributorsToTrackTime ||
    isIssueWritable(issue) ||
    issue.assignees.some((each) => each.id === id));

/** @throws Failure `forbidden` for users who may not spend time on an issue. */
export function requireSpendingTime(issue: IssueContext, user: User): void {
  if (!maySpendTime(issue, user)) throw forbidden("you can't track time on this issue");
}
