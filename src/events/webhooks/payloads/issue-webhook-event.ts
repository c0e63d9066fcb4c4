import type { CommentPayload, IssuePayload } from "../../../shapes/webhooks/issue-payloads.ts";
import type { Event } from "../../event.ts";
import type { IssueEvent } from "../../kinds/issue-event.ts";
import type { CommentChange, IssueChange } from "./issue-change.ts";
import { type PullWebhookEvent, toPullChange } from "./pull-webhook-event.ts";

/** A webhook event of an issue or its comments. */
export type IssueWebhookEvent = IssueChange | CommentChange | IssueDeletion;

/** The payload of a deletion is recorded with its event, since what was deleted can't be read. */
type IssueDeletion = { readonly repoId: number; readonly action: "deleted" } & (
  | { readonly event: "issues"; readonly body: IssuePayload }
  | { readonly event: "issue_comment"; readonly body: CommentPayload }
);

export const isIssueEvent = (event: Event): event is IssueEvent =>
  event.type.startsWith("issue.") || event.type.startsWith("comment.");

/** Lists the webhook events of a change of an issue, pull request or comment, one at most. */
export function listIssueWebhookEvents(
  event: IssueEvent,
): (IssueWebhookEvent | PullWebhookEvent)[] {
  const change = toIssueChange(event);
  if (change) return [event.isPull ? toPullChange(change) : change];
  const { repoId, issueId, isPull } = event;
  switch (event.type) {
    case "issue.deleted": {
      const { lastPayload } = event;
      return "pull_request" in lastPayload
        ? [{ event: "pull_request", repoId, action: "deleted", body: lastPayload }]
        : [{ event: "issues", repoId, action: "deleted", body: lastPayload }];
    }
    case "comment.created":
    case "comment.edited": {
      const { commentId } = event;
      const comment = { event: isPull ? "pull_request_comment" : "issue_comment" } as const;
      return event.type === "comment.created"
        ? [{ ...comment, repoId, action: "created", issueId, commentId }]
        : [{ ...comment, repoId, action: "edited", issueId, commentId, from: event.from }];
    }
    case "comment.deleted": {
      const comment = { event: isPull ? "pull_request_comment" : "issue_comment" } as const;
      return [{ ...comment, repoId, action: "deleted", body: event.lastPayload }];
    }
    default:
      return [];
  }
}

/** The change of an existing issue by an event; undefined for other events. */
function toIssueChange(event: IssueEvent): IssueChange | undefined {
  const { repoId, issueId } = event;
  const issue = { event: "issues", repoId, issueId, commitOid: "" } as const;
  switch (event.type) {
    case "issue.opened":
      return { ...issue, action: "opened" };
    case "issue.closed":
      return { ...issue, action: "closed", commitOid: event.commitOid };
    case "issue.reopened":
      return { ...issue, action: "reopened", commitOid: event.commitOid };
    case "issue.edited":
      return { ...issue, action: "edited", changes: { from: event.from, added: [], removed: [] } };
    case "issue.assigned":
      return { ...issue, event: "issue_assign", action: "assigned" };
    case "issue.unassigned":
      return { ...issue, event: "issue_assign", action: "unassigned" };
    case "issue.labeled": {
      const { added, removed } = event;
      const changes = { from: {}, added, removed };
      return { ...issue, event: "issue_label", action: "label_updated", changes };
    }
    case "issue.labels_cleared":
      return { ...issue, event: "issue_label", action: "label_cleared" };
    case "issue.milestoned":
      return { ...issue, event: "issue_milestone", action: "milestoned" };
    case "issue.demilestoned":
      return { ...issue, event: "issue_milestone", action: "demilestoned" };
    default:
      return undefined;
  }
}
