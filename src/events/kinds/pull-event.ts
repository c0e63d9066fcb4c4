import type { Oid } from "../../git/oid.ts";
import type { DequeueReason, MergeKind } from "../../db/schema/index.ts";

/** The pull request that an event is about. */
interface OfPull {
  repoId: number;
  ownerId: number;
  issueId: number;
  number: number;
}

/** The reviewer of a request: a user or a team. */
type Asked = { userId: number; teamId: null } | { userId: null; teamId: number };

/**
 * Events of pull requests only. Events that they share with issues, like being opened, edited,
 * labeled and closed without a merge, are issue events.
 */
export type PullEvent =
  | (OfPull & {
      /** The head has another value. */
      type: "pull.synchronized";
      before: Oid;
      after: Oid;
      isForced: boolean;
      /** The number of new commits, up to a limit. */
      commitCount: number;
    })
  | (OfPull & {
      /** Instead of being closed. */
      type: "pull.merged";
      mergeCommitOid: Oid;
      mergeKind: MergeKind;
      /** Whether nobody asked for it just then: it was scheduled, or found in the base. */
      isAutomatic: boolean;
      /** Whether the branch of the head is to be deleted. */
      isBranchDeleted?: boolean;
      /**
       * Whether its credential reaches less than its account: nothing follows from it in other
       * repositories.
       */
      isConfined?: true;
    })
  | (OfPull & {
      type: "pull.retargeted";
      /** Branches. */
      from: string;
      to: string;
    })
  | (OfPull & {
      /** It is no draft any more. */
      type: "pull.ready";
    })
  | (OfPull & Asked & { type: "pull.review_requested" | "pull.review_request_removed" })
  | (OfPull & { type: "pull.merge_scheduled" | "pull.merge_unscheduled" })
  | (OfPull & {
      type: "pull.enqueued";
      /** The base, whose merge queue it is in. */
      branch: string;
    })
  | (OfPull & {
      /** Other than by the merge of the queue. */
      type: "pull.dequeued";
      branch: string;
      reason: DequeueReason;
      /** The missing rule or permission for `refused`; else "". */
      detail: string;
    })
  | (OfPull & {
      type: "review.submitted";
      reviewId: number;
      state: "approved" | "request_changes" | "comment";
    })
  | (OfPull & {
      type: "review.dismissed" | "review.undismissed" | "review.deleted";
      reviewId: number;
    })
  | (OfPull & {
      /** The conversation that begins with a comment. */
      type: "conversation.resolved" | "conversation.reopened";
      commentId: number;
    });
