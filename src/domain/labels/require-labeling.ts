import { forbidden } from "../../lib/failure.ts";
import type { IssueContext } from "../../shapes/issues/issue.ts";
import { isIssueWritable } from "../issues/find-issue.ts";

/** @throws Failure `forbidden` unless the caller may change the labels of an issue; its poster may not. */
export function requireLabeling(issue: IssueContext): void {
  if (!isIssueWritable(issue)) throw forbidden("write permission is required");
}
