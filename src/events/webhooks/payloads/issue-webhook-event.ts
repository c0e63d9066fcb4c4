import type { Oid } from "../../../git/oid.ts";
import type {
  CommentPayload,
  IssueAction,
  IssuePayload,
} from "../../../shapes/webhooks/issue-payloads.ts";
import type { Event } from "../../event.ts";
import type { IssueEvent } from "../../kinds/issue-event.ts";

/** A webhook event of an issue or its comments. */
export type IssueWebhookEvent = IssueChange | CommentChange | Deletion;

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
  readonly event: "issue_comment";
  readonly repoId: number;
  readonly action: "created" | "edited";
  readonly issueId: number;
  readonly commentId: number;
  /** The former text of an edited comment. */
  readonly from?: string;
}

/** The payload of a deletion is recorded with its event, since what was deleted can't be read. */
type Deletion = { readonly repoId: number; readonly action: "deleted" } & (
  | { readonly event: "issues"; readonly body: IssuePayload }
  | { readonly event: "issue_comment"; readonly body: CommentPayload }
);

export const isIssueEvent = (event: Event): event is IssueEvent =>
  event.type.startsWith("issue.") || event.type.startsWith("comment.");

/**
 * Lists the webhook events of a change of an issue or comment, one at most. Changes of pull requests have none: their
 * payloads contain what only pull requests have.
 */
export function listIssueWebhookEvents(event: IssueEvent): IssueWebhookEvent[] {
  const { repoId, issueId, isPull } = event;
  if (isPull) return [];
  const issue = { event: "issues", repoId, issueId, commitOid: "" } as const;
  switch (event.type) {
    case "issue.opened":
      return [{ ...issue, action: "opened" }];
    case "issue.closed":
      return [{ ...issue, action: "closed", commitOid: event.commitOid }];
    case "issue.reopened":
      return [{ ...issue, action: "reopened", commitOid: event.commitOid }];
    case "issue.edited": {
      const changes = { from: event.from, added: [], removed: [] };
      return [{ ...issue, action: "edited", changes }];
    }
    case "issue.deleted":
      return [{ event: "issues", repoId, action: "deleted", body: event.lastPayload }];
    case "issue.assigned":
      return [{ ...issue, event: "issue_assign", action: "assigned" }];
    case "issue.unassigned":
      return [{ ...issue, event: "issue_assign", action: "unassigned" }];
    case "issue.labeled": {
      const { added, removed } = event;
      const changes = { from: {}, added, removed };
      return [{ ...issue, event: "issue_label", action: "label_updated", changes }];
    }
    case "issue.labels_cleared":
      return [{ ...issue, event: "issue_label", action: "label_cleared" }];
    case "issue.milestoned":
      return [{ ...issue, event: "issue_milestone", action: "milestoned" }];
    case "issue.demilestoned":
      return [{ ...issue, event: "issue_milestone", action: "demilestoned" }];
    case "comment.created": {
      const { commentId } = event;
      return [{ event: "issue_comment", repoId, action: "created", issueId, commentId }];
    }
    case "comment.edited": {
      const { commentId, from } = event;
      return [{ event: "issue_comment", repoId, action: "edited", issueId, commentId, from }];
    }
    case "comment.deleted":
      return [{ event: "issue_comment", repoId, action: "deleted", body: event.lastPayload }];
    default:
      return [];
  }
}
