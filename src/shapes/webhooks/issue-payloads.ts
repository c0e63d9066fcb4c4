import type { Oid } from "../../git/oid.ts";
import type { Comment } from "../issues/comment.ts";
import type { Issue } from "../issues/issue.ts";
import type { Label } from "../issues/label.ts";
import type { PullRequest } from "../pulls/pull-request.ts";
import type { Repository } from "../repos/repository.ts";
import type { User } from "../users/user.ts";

export type IssueAction =
  | "opened"
  | "closed"
  | "reopened"
  | "edited"
  | "deleted"
  | "assigned"
  | "unassigned"
  | "label_updated"
  | "label_cleared"
  | "milestoned"
  | "demilestoned";

/** The former values of what an edit changed, and the labels that were added and removed. */
export interface Changes {
  title?: { from: string };
  body?: { from: string };
  ref?: { from: string };
  added_labels: Label[] | null;
  removed_labels: Label[] | null;
}

/**
 * The payload of the webhook events `issues`, `issue_assign`, `issue_label` and `issue_milestone`.
 */
export interface IssuePayload {
  action: IssueAction;
  number: number;
  changes?: Changes;
  issue: Issue;
  repository: Repository;
  sender: User;
  /** The commit whose message closed or reopened the issue; empty if none did. */
  commit_id: Oid | "";
}

/** The payload of the webhook events `issue_comment` and `pull_request_comment`. */
export interface CommentPayload {
  action: "created" | "edited" | "deleted";
  issue: Issue;
  /** For a comment of a pull request. */
  pull_request?: PullRequest;
  comment: Comment;
  changes?: { body: { from: string } };
  repository: Repository;
  sender: User;
  is_pull: boolean;
}
