import { forbidden } from "../../../lib/failure.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";
import { isIssueWritable } from "./find-issue.ts";
import { requireNotArchived } from "./require-issue-access.ts";

/**
 * @throws Failure `forbidden` unless the caller may change the labels of an issue, which its poster
 * may not; `locked` in an archived repository.
 */
export function requireLabeling(issue: IssueContext): void {
  if (!isIssueWritable(issue)) throw forbidden("write permission is required");
  requireNotArchived(issue.repo);
}
