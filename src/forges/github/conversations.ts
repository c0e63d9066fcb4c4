import { z } from "zod";

import { listOf, optionalLong, optionalShort, shortText, time, timeOrNull } from "../fields.ts";
import type { ForeignReview, ForeignUser } from "../forge.ts";
import { LineComment } from "./code-comments.ts";
import { Account, Id } from "./fields.ts";
import { type GitHubApi, readWholeList } from "./github-api.ts";
import type { RequestBudget } from "./request-budget.ts";
import type { Thread } from "./threads.ts";

/** Pages of reviews, and of comments on code, that are read of one pull request at most. */
const PAGES_MAX = 10;
/** Pages of events that are read, for dismissed and requested reviews only. */
const EVENT_PAGES_MAX = 3;

/** @see https://docs.github.com/en/rest/pulls/reviews#list-reviews-for-a-pull-request */
const Review = z.object({
  id: Id,
  user: Account,
  state: z.enum(["APPROVED", "CHANGES_REQUESTED", "COMMENTED", "DISMISSED", "PENDING"]),
  body: optionalLong,
  commit_id: optionalShort,
  /** None while it is pending. */
  submitted_at: timeOrNull,
  author_association: optionalShort,
});
type Review = z.infer<typeof Review>;

/** @see https://docs.github.com/en/rest/pulls/review-requests */
const Requested = z.object({
  users: listOf(Account, 1000),
  teams: listOf(z.object({ slug: shortText }), 1000),
});
type Requested = z.infer<typeof Requested>;
const NOBODY: Requested = { users: [], teams: [] };

/** @see https://docs.github.com/en/rest/issues/events#list-issue-events */
const Event = z.object({
  event: shortText,
  created_at: time,
  /** Absent for teams. */
  requested_reviewer: Account,
  dismissed_review: z.object({ review_id: Id, state: shortText }).nullish(),
});

type Event = z.infer<typeof Event>;

/** Associations whose reviews count for the rules of a branch: writers and members. */
const OFFICIAL: ReadonlySet<string> = new Set(["OWNER", "MEMBER", "COLLABORATOR"]);

type SubmittedState = "approved" | "request_changes" | "comment";

const SUBMITTED_STATES = {
  APPROVED: "approved",
  CHANGES_REQUESTED: "request_changes",
  COMMENTED: "comment",
} as const satisfies Record<string, SubmittedState>;

/** The same in the words of events. */
const EVENT_STATES: Readonly<Record<string, SubmittedState>> = {
  approved: "approved",
  changes_requested: "request_changes",
  commented: "comment",
};

/** A review whose comments are not yet converted. */
interface ReadReview extends Omit<ForeignReview, "comments"> {
  readonly comments: readonly LineComment[];
}

interface Conversation {
  readonly reviews: readonly ReadReview[];
  /** A sentence for each thing that is not read. */
  readonly leftOut: readonly string[];
}

/** The facts that only events have, not reviews and requests. */
interface EventFacts {
  /** The results of dismissed reviews, by the reviews' ids. */
  readonly dismissed: ReadonlyMap<number, SubmittedState>;
  /** When reviews were last asked for, by the names of the reviewers. */
  readonly requestedAt: ReadonlyMap<string, number>;
}

/**
 * Reads the reviews of a pull request with their comments, and the open requests for reviews,
 * oldest first.
 *
 * @param budget What the requests are charged to.
 * @returns Undefined if the budget does not go so far, unless nothing else was charged to it.
 */
export async function readConversation(
  api: GitHubApi,
  thread: Thread,
  budget: RequestBudget,
): Promise<Conversation | undefined> {
  const { number } = thread;
  const isFirst = budget.isUnspent;
  const pull = `${api.path}/pulls/${number}`;
  const leftOut: string[] = [];
  /** @returns Undefined if there is more than the budget allows. */
  const read = async <T>(path: string, shape: z.ZodType<T>, pagesMax: number) => {
    const allowed = isFirst ? pagesMax : Math.min(pagesMax, budget.left);
    const { items, requestCount, isCut } = await readWholeList(api, path, shape, allowed);
    budget.spend(requestCount);
    if (isCut && allowed < pagesMax) return undefined;
    if (isCut)
      leftOut.push(`#${number} has more than the ${items.length} items of ${path} that are read.`);
    return items;
  };

  const reviews = await read(`${pull}/reviews`, Review, PAGES_MAX);
  const comments = reviews && (await read(`${pull}/comments`, LineComment, PAGES_MAX));
  if (!comments) return undefined;
  const requested = thread.state === "open" ? await readRequested(api, pull, budget) : NOBODY;
  const hasEvents =
    requested.users.length > 0 || reviews.some(({ state }) => state === "DISMISSED");
  const events = hasEvents
    ? await read(`${api.path}/issues/${number}/events`, Event, EVENT_PAGES_MAX)
    : [];
  if (!events) return undefined;

  const facts = toFacts(events);
  for (const { slug } of requested.teams) {
    leftOut.push(
      `Review of #${number} by the team ${slug} was asked for: teams are not taken over.`,
    );
  }
  const all = [
    ...toReviews(number, reviews, comments, facts),
    ...requested.users.map((user) => toRequest(thread, user, facts)),
  ];
  return { reviews: all.toSorted((a, b) => a.createdAt - b.createdAt), leftOut };
}

/** Whose reviews are waited for: nobody waits at a closed pull request. */
async function readRequested(
  { client }: GitHubApi,
  pull: string,
  budget: RequestBudget,
): Promise<Requested> {
  budget.spend(1);
  return (await client.get(`${pull}/requested_reviewers`, Requested)).value;
}

function toFacts(events: readonly Event[]): EventFacts {
  const dismissed = new Map<number, SubmittedState>();
  const requestedAt = new Map<string, number>();
  for (const { event, created_at, requested_reviewer, dismissed_review } of events) {
    if (event === "review_requested" && requested_reviewer.id !== 0) {
      requestedAt.set(requested_reviewer.name, created_at);
    }
    const result = dismissed_review?.state ?? "";
    const state = Object.hasOwn(EVENT_STATES, result) ? EVENT_STATES[result] : undefined;
    if (state && dismissed_review) dismissed.set(dismissed_review.review_id, state);
  }
  return { dismissed, requestedAt };
}

function toReviews(
  number: number,
  reviews: readonly Review[],
  comments: readonly LineComment[],
  { dismissed }: EventFacts,
): ReadReview[] {
  const byReview = Map.groupBy(comments, (comment) => comment.pull_request_review_id ?? 0);
  const converted: ReadReview[] = [];
  for (const review of reviews) {
    const { id, state, submitted_at: createdAt } = review;
    const own = byReview.get(id) ?? [];
    byReview.delete(id);
    // Its author has not submitted it: nobody else sees it.
    if (state === "PENDING" || createdAt === null) continue;
    converted.push({
      foreignId: String(id),
      number,
      reviewer: review.user,
      // Only the event of the dismissal has the review's result. Mostly it requested changes.
      state:
        state === "DISMISSED" ? (dismissed.get(id) ?? "request_changes") : SUBMITTED_STATES[state],
      isDismissed: state === "DISMISSED",
      isOfficial: OFFICIAL.has(review.author_association),
      body: review.body,
      commitOid: review.commit_id,
      createdAt,
      comments: own,
    });
  }
  for (const comment of [...byReview.values()].flat()) converted.push(toOwnReview(number, comment));
  return converted;
}

/**
 * A comment without a review, as they all were before GitHub had reviews: it gets one of its own.
 */
const toOwnReview = (number: number, comment: LineComment): ReadReview => ({
  foreignId: `comment-${comment.id}`,
  number,
  reviewer: comment.user,
  state: "comment",
  isDismissed: false,
  isOfficial: false,
  body: "",
  commitOid: comment.original_commit_id,
  createdAt: comment.created_at,
  comments: [comment],
});

/** A request for a review, which has no id at GitHub. */
const toRequest = (
  { number, created_at }: Thread,
  reviewer: ForeignUser,
  { requestedAt }: EventFacts,
): ReadReview => ({
  foreignId: `request-${number}-${reviewer.id}`,
  number,
  reviewer,
  state: "request_review",
  isDismissed: false,
  isOfficial: false,
  body: "",
  commitOid: "",
  createdAt: requestedAt.get(reviewer.name) ?? created_at,
  comments: [],
});
