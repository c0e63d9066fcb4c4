import type { DequeueReason } from "../../../db/schema/index.ts";
import type { Oid } from "../../../git/oid.ts";
import type { CommentPayload } from "../../../shapes/webhooks/issue-payloads.ts";
import type { PullAction, PullPayload } from "../../../shapes/webhooks/pull-payload.ts";
import type { Event } from "../../event.ts";
import type { PullEvent } from "../../kinds/pull-event.ts";
import type { ReviewEvent } from "./hook-event.ts";
import type { CommentChange, IssueChange } from "./issue-change.ts";

/** A webhook event of a pull request, its comments or its reviews. */
export type PullWebhookEvent = PullChange | CommentChange | ReviewChange | PullDeletion;

/** A change of a pull request that exists. */
export interface PullChange {
  readonly event:
    | "pull_request"
    | "pull_request_assign"
    | "pull_request_label"
    | "pull_request_milestone"
    | "pull_request_review_request"
    | "pull_request_sync";
  readonly repoId: number;
  readonly action: Exclude<PullAction, "deleted" | "reviewed">;
  readonly issueId: number;
  /** The commit whose message closed or reopened it; "" if none did. */
  readonly commitOid: Oid | "";
  readonly changes?: IssueChange["changes"];
  /** Why it left the merge queue. */
  readonly reason?: DequeueReason;
  /** The reviewer whose request was added or removed. */
  readonly asked?: { readonly userId: number | null; readonly teamId: number | null };
}

export interface ReviewChange {
  readonly event: ReviewEvent;
  readonly repoId: number;
  readonly action: "reviewed";
  readonly issueId: number;
  readonly reviewId: number;
}

/** As that of an issue. */
type PullDeletion = { readonly repoId: number; readonly action: "deleted" } & (
  | { readonly event: "pull_request"; readonly body: PullPayload }
  | { readonly event: "pull_request_comment"; readonly body: CommentPayload }
);

export const isPullEvent = (event: Event): event is PullEvent =>
  ["pull.", "review.", "conversation."].some((family) => event.type.startsWith(family));

const REVIEW_EVENTS = {
  approved: "pull_request_review_approved",
  request_changes: "pull_request_review_rejected",
  comment: "pull_request_review_comment",
} as const;

/** Lists the webhook events of what happens to pull requests only, one at most. */
export function listPullWebhookEvents(event: PullEvent): PullWebhookEvent[] {
  const { repoId, issueId } = event;
  const pull = { event: "pull_request", repoId, issueId, commitOid: "" } as const;
  switch (event.type) {
    case "pull.merged":
      // The commit that it became is part of the pull request.
      return [{ ...pull, action: "closed" }];
    case "pull.synchronized":
      return [{ ...pull, event: "pull_request_sync", action: "synchronized" }];
    case "pull.retargeted": {
      const changes = { from: { ref: event.from }, added: [], removed: [] };
      return [{ ...pull, action: "edited", changes }];
    }
    case "pull.enqueued":
      return [{ ...pull, action: "enqueued" }];
    case "pull.dequeued":
      return [{ ...pull, action: "dequeued", reason: event.reason }];
    case "pull.review_requested":
    case "pull.review_request_removed": {
      const { userId, teamId } = event;
      const isAsked = event.type === "pull.review_requested";
      const action = isAsked ? "review_requested" : "review_request_removed";
      const asked = { userId, teamId };
      return [{ ...pull, event: "pull_request_review_request", action, asked }];
    }
    case "review.submitted": {
      const { reviewId, state } = event;
      return [{ event: REVIEW_EVENTS[state], repoId, action: "reviewed", issueId, reviewId }];
    }
    default:
      return [];
  }
}

const FAMILIES = {
  issues: "pull_request",
  issue_assign: "pull_request_assign",
  issue_label: "pull_request_label",
  issue_milestone: "pull_request_milestone",
} as const;

/** The webhook event of a pull request for a change that issues have, too. */
export const toPullChange = (change: IssueChange): PullChange => ({
  ...change,
  event: FAMILIES[change.event],
});
