import type { Oid } from "../../../git/oid.ts";
import type { IssueAction } from "../../../shapes/webhooks/issue-payloads.ts";

/** A change of an issue that exists. */
export interface IssueChange {
  readonly event: "issues" | "issue_assign" | "issue_label" | "issue_milestone";
  readonly repoId: number;
  readonly action: Exclude<IssueAction, "deleted">;
  readonly issueId: number;
  /** The commit whose message closed or reopened it; "" if none did. */
  readonly commitOid: Oid | "";
  /** Undefined if the action has no payload of changes. */
  readonly changes?: {
    /** The former values of what was edited. */
    readonly from: { title?: string; body?: string; ref?: string };
    /** Ids of labels. */
    readonly added: readonly number[];
    readonly removed: readonly number[];
  };
}

/** A new or edited comment. */
export interface CommentChange {
  readonly event: "issue_comment" | "pull_request_comment";
  readonly repoId: number;
  readonly action: "created" | "edited";
  readonly issueId: number;
  readonly commentId: number;
  /** The former text of an edited comment. */
  readonly from?: string;
}
