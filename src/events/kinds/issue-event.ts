import type { Oid } from "../../git/oid.ts";
import type { CommentPayload, IssuePayload } from "../../shapes/webhooks/issue-payloads.ts";
import type { PullPayload } from "../../shapes/webhooks/pull-payload.ts";

/** The issue or pull request that an event is about. */
interface OfIssue {
  repoId: number;
  ownerId: number;
  issueId: number;
  number: number;
  isPull: boolean;
}

/** Changes of issues and pull requests, and of their comments. */
export type IssueEvent =
  | (OfIssue & { type: "issue.opened" | "issue.labels_cleared" })
  | (OfIssue & {
      type: "issue.closed" | "issue.reopened";
      /** The commit whose message did it; "" for none. */
      commitOid: Oid | "";
    })
  | (OfIssue & {
      type: "issue.edited";
      /** The former values of what was changed. */
      from: { title?: string; body?: string; ref?: string };
    })
  | (OfIssue & {
      type: "issue.deleted";
      title: string;
      /** The payload for webhooks: the issue can't be read any more. Removed once dispatched. */
      lastPayload: IssuePayload | PullPayload;
    })
  | (OfIssue & { type: "issue.assigned" | "issue.unassigned"; userId: number })
  | (OfIssue & { type: "issue.labeled"; added: readonly number[]; removed: readonly number[] })
  | (OfIssue & {
      type: "issue.milestoned" | "issue.demilestoned";
      /** The milestone that it has now, or had until now. */
      milestoneId: number;
    })
  | (OfIssue & {
      type: "issue.dependency_added" | "issue.dependency_removed";
      /** The issue that the other one waits for. */
      blockerId: number;
    })
  | (OfIssue & { type: "issue.locked" | "issue.unlocked" | "issue.pinned" | "issue.unpinned" })
  | (OfIssue & { type: "issue.deadline_changed"; deadlineAt: number | null })
  | (OfIssue & { type: "comment.created"; commentId: number })
  | (OfIssue & { type: "comment.edited"; commentId: number; from: string })
  | (OfIssue & {
      type: "comment.deleted";
      commentId: number;
      /** As that of a deleted issue. */
      lastPayload: CommentPayload;
    });
