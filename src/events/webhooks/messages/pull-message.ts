import type { PullAction, PullPayload } from "../../../shapes/webhooks/pull-payload.ts";
import { COLORS, DEEDS, detailsOf, firstLineOf, titleOf } from "./issue-message.ts";
import {
  GRAY,
  GREEN,
  linkTo,
  type ChatParts,
  type Piece,
  RED,
  shorten,
  YELLOW,
} from "./message-parts.ts";

/** The actions that issues have, too. */
type Shared = keyof typeof COLORS;

const isShared = (action: PullAction): action is Shared => Object.hasOwn(COLORS, action);

/** The message of a change of a pull request. */
export function ofPull(payload: PullPayload): ChatParts {
  const { action, pull_request: pull, commit_id: commitId, changes, reason } = payload;
  const isMerged = action === "closed" && pull.merged;
  if (isMerged) return toParts(payload, "merged", GREEN, intoBase(pull.base.ref));
  if (action === "enqueued") {
    return toParts(payload, "added to the merge queue", YELLOW, intoBase(pull.base.ref));
  }
  if (action === "dequeued") {
    const details = reason === undefined ? [] : [`Reason: ${reason.replaceAll("_", " ")}`];
    return toParts(payload, "removed from the merge queue", GRAY, details);
  }
  if (!isShared(action)) return toParts(payload, "synchronized", YELLOW, headOf(pull));
  const details =
    changes?.ref === undefined ? detailsOf(action, pull, commitId) : intoBase(pull.base.ref);
  return toParts(payload, DEEDS[action], COLORS[action], details);
}

const intoBase = (branch: string): Piece[] => [`Base: ${shorten(branch)}`];

const headOf = ({ head }: PullPayload["pull_request"]): Piece[] => [
  `Head: ${shorten(head.ref)} at ${head.sha.slice(0, 7)}`,
];

/** The message of a request for a review, or of one that was taken back. */
export function ofReviewRequest(payload: PullPayload): ChatParts {
  const { action, requested_reviewer: reviewer, requested_team: team } = payload;
  const isAsked = action === "review_requested";
  const asked = reviewer?.login ?? team?.name;
  const deed = isAsked ? "review requested" : "review request removed";
  const details = asked === undefined ? [] : [`Reviewer: ${shorten(asked)}`];
  return toParts(payload, deed, isAsked ? YELLOW : GRAY, details);
}

const REVIEW_RESULTS = {
  pull_request_review_approved: ["approved", GREEN],
  pull_request_review_rejected: ["changes requested", RED],
  pull_request_review_comment: ["reviewed", GRAY],
} as const;

/** The message of a review. */
export function ofReview(payload: PullPayload): ChatParts {
  const { type, content } = payload.review ?? {
    type: "pull_request_review_comment" as const,
    content: "",
  };
  const [deed, color] = REVIEW_RESULTS[type];
  return toParts(payload, deed, color, firstLineOf(content));
}

function toParts(
  { action, pull_request: pull, repository }: PullPayload,
  deed: string,
  color: number,
  details: readonly Piece[],
): ChatParts {
  const url = pull.html_url;
  // A deleted pull request has no page.
  const isDeleted = action === "deleted";
  const subject: Piece = isDeleted ? titleOf(pull) : { text: titleOf(pull), url };
  return {
    color,
    title: ["[", linkTo(repository), `] Pull request ${deed}: `, subject],
    ...(!isDeleted && { url }),
    details: details.map((detail) => [detail]),
  };
}
