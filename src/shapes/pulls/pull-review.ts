import { z } from "@hono/zod-openapi";

import type {
  Review as ReviewRow,
  ReviewState,
  Team as TeamRow,
  User as UserRow,
} from "../../db/schema/index.ts";
import { formatTime } from "../../lib/time.ts";
import { commentHtmlUrlOf } from "../issues/comment.ts";
import { issueHtmlUrlOf, type IssueNames } from "../issues/issue.ts";
import { Int64, Time } from "../json.ts";
import { Team, toTeam } from "../orgs/team.ts";
import { toGhost, toUser, User } from "../users/user.ts";
import type { Viewer } from "../viewer.ts";

/** The states of reviews in the API. */
const REVIEW_STATES = [
  "APPROVED",
  "PENDING",
  "COMMENT",
  "REQUEST_CHANGES",
  "REQUEST_REVIEW",
] as const;
type ReviewStateType = (typeof REVIEW_STATES)[number];

const STATE_TYPES: Record<ReviewState, ReviewStateType> = {
  approved: "APPROVED",
  pending: "PENDING",
  comment: "COMMENT",
  request_changes: "REQUEST_CHANGES",
  request_review: "REQUEST_REVIEW",
};

export const PullReview = z
  .object({
    id: Int64,
    user: User.nullable().openapi({ description: "Its author, or who is asked; null for a team" }),
    team: Team.nullable().openapi({ description: "The team that is asked" }),
    state: z.enum(REVIEW_STATES),
    body: z.string(),
    commit_id: z.string().openapi({ description: "The head that was reviewed" }),
    stale: z.boolean().openapi({ description: "Whether the head has changed since" }),
    official: z.boolean().openapi({
      description: "Whether it counts for the rule that protects the base",
    }),
    dismissed: z.boolean(),
    comments_count: Int64.openapi({ description: "The number of its comments on code" }),
    submitted_at: Time,
    updated_at: Time,
    html_url: z.string(),
    pull_request_url: z.string().openapi({ format: "uri" }),
  })
  .openapi("PullReview");
export type PullReview = z.infer<typeof PullReview>;

/** A review, or a request for one, as queries return it. */
export interface ReviewContext {
  readonly pull: IssueNames;
  readonly row: ReviewRow;
  /** Undefined for a team, and for a deleted account. */
  readonly reviewer: UserRow | undefined;
  readonly team: TeamRow | undefined;
  /** The entry of the review in the timeline; undefined for a request. */
  readonly entryId: number | undefined;
}

/** Formats a review for `viewer`. */
export function toPullReview(review: ReviewContext, viewer: Viewer): PullReview {
  const { pull, row, reviewer, team, entryId } = review;
  const user = reviewer ? toUser(reviewer, viewer) : toGhost(viewer);
  return {
    id: row.id,
    user: team ? null : user,
    team: team ? toTeam(team, null, viewer) : null,
    state: STATE_TYPES[row.state],
    body: row.body,
    commit_id: row.commitOid,
    stale: row.isStale,
    official: row.isOfficial,
    dismissed: row.isDismissed,
    comments_count: row.commentCount,
    submitted_at: formatTime(row.createdAt),
    updated_at: formatTime(row.updatedAt),
    html_url: entryId === undefined ? "" : commentHtmlUrlOf(pull, entryId, viewer),
    pull_request_url: issueHtmlUrlOf(pull, viewer),
  };
}
