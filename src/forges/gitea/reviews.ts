import { boundedList } from "../../lib/bounded.ts";
import type { ForeignCodeComment, ForeignFilter, ForeignPage, ForeignReview } from "../forge.ts";
import { numberOf } from "../cursor.ts";
import { mapInParallel } from "../in-parallel.ts";
import { absoluteFiles } from "../absolute-files.ts";
import { userOf } from "./authors.ts";
import type { GiteaProject } from "./gitea-project.ts";
import { readPullWindow } from "./pulls.ts";
import { readCommentReactions } from "./reactions.ts";
import { type GiteaPull, GiteaReview, ReviewComment } from "./shapes.ts";

/** Pull requests that are looked through for a page, each by a request. */
const PULLS_SIZE = 10;
const REVIEWS_SIZE = 50;
/**
 * Requests about comments after which a page ends. A review is whole, so that one may make more.
 */
const REQUESTS_MAX = 20;
/**
 * The reactions to further comments of one review are left out, since each comment's are a request.
 */
const REACTING_COMMENTS_MAX = 100;

const STATES = {
  APPROVED: "approved",
  COMMENT: "comment",
  REQUEST_CHANGES: "request_changes",
  REQUEST_REVIEW: "request_review",
} as const;

/** A review that is taken over. */
type TakenReview = GiteaReview & { readonly state: keyof typeof STATES };

/**
 * The reviews of pull requests in the order of these, each with its comments. The cursor has the
 * positions of a pull request and of the next of its reviews.
 */
export async function readReviews(
  project: GiteaProject,
  cursor: string | undefined,
  filter: ForeignFilter,
): Promise<ForeignPage<ForeignReview>> {
  if (!filter.includesPulls) return { items: [], next: undefined };
  const [pullCursor, reviewCursor] = cursor?.split("/") ?? [];
  const first = numberOf(pullCursor);
  const firstReview = numberOf(reviewCursor);
  const { pulls, end, isLast } = await readPullWindow(project, first, filter, PULLS_SIZE);
  const reviewed = await mapInParallel([...pulls.entries()], async ([at, pull]) => {
    const from = at === 0 ? firstReview : 0;
    return {
      position: first + at,
      pull,
      page: await project.lists.readFrom(reviewList(project, pull), from),
    };
  });

  const items: ForeignReview[] = [];
  let requestCount = 0;
  for (const { position, pull, page } of reviewed) {
    for (const [offset, review] of page.items.entries()) {
      if (requestCount >= REQUESTS_MAX)
        return { items, next: `${position}/${page.start + offset}` };
      if (!isTaken(review)) continue;
      const comments = await readReviewComments(project, pull, review);
      requestCount += comments.requestCount;
      items.push(toReview(project, pull, review, comments.items));
    }
    if (!page.isLast) return { items, next: `${position}/${page.end}` };
  }
  return { items, next: isLast ? undefined : `${end}/0` };
}

const reviewList = ({ path }: GiteaProject, { number }: GiteaPull) => ({
  path: `${path}/pulls/${number}/reviews`,
  shape: GiteaReview,
  size: REVIEWS_SIZE,
});

/**
 * Left out are reviews that are not submitted, and requests to teams, which are of an organization
 * there.
 */
const isTaken = (review: GiteaReview): review is TakenReview =>
  Object.hasOwn(STATES, review.state) && !(review.state === "REQUEST_REVIEW" && !review.user);

const toReview = (
  { rootUrl }: GiteaProject,
  { number }: GiteaPull,
  review: TakenReview,
  comments: ForeignCodeComment[],
): ForeignReview => ({
  foreignId: String(review.id),
  number,
  reviewer: userOf(review.user),
  state: STATES[review.state],
  isDismissed: review.dismissed,
  isOfficial: review.official,
  body: absoluteFiles(review.body, rootUrl),
  commitOid: review.commit_id,
  createdAt: review.submitted_at,
  comments,
});

const ReviewComments = boundedList(ReviewComment, 10_000).nullable();

async function readReviewComments(
  project: GiteaProject,
  { number }: GiteaPull,
  { id, comments_count }: GiteaReview,
): Promise<{ items: ForeignCodeComment[]; requestCount: number }> {
  if (comments_count === 0) return { items: [], requestCount: 0 };
  const path = `${project.path}/pulls/${number}/reviews/${id}/comments`;
  // Has no pages, and no order.
  const { value } = await project.client.get(path, ReviewComments);
  const comments = (value ?? []).toSorted((a, b) => a.id - b.id);
  const reacting = comments.slice(0, REACTING_COMMENTS_MAX);
  const reactions = await mapInParallel(reacting, (each) => readCommentReactions(project, each.id));
  const roots = rootsOf(comments);
  const items = comments.map((comment, at): ForeignCodeComment => {
    const root = roots.get(comment.id) ?? comment;
    return {
      foreignId: String(comment.id),
      answersId: root === comment ? String(comment.in_reply_to ?? "") : String(root.id),
      poster: userOf(comment.user),
      body: absoluteFiles(comment.body, project.rootUrl),
      path: comment.path,
      line: comment.position || comment.original_position || 0,
      isOnOldSide: !comment.position && !!comment.original_position,
      commitOid: comment.commit_id || comment.original_commit_id,
      hunk: comment.diff_hunk,
      isResolved: !!(root.resolver ?? comment.resolver),
      reactions: reactions[at] ?? [],
      createdAt: comment.created_at,
      updatedAt: comment.updated_at,
    };
  });
  return { items, requestCount: 1 + reacting.length };
}

/**
 * The first comment of the conversation of each comment, as far as it is in the same review.
 * Gitea's API does not state it: an answer is in the same review and on the same line of the same
 * file as the comment it answers, and only the first comment of a conversation has its resolver.
 *
 * @param comments Oldest first.
 */
function rootsOf(comments: readonly ReviewComment[]): Map<number, ReviewComment> {
  const byLine = new Map<string, ReviewComment>();
  const roots = new Map<number, ReviewComment>();
  for (const comment of comments) {
    const { path, position, original_position, in_reply_to } = comment;
    const line = JSON.stringify([path, position ?? 0, original_position ?? 0]);
    const root = in_reply_to === undefined ? byLine.get(line) : roots.get(in_reply_to ?? 0);
    if (!byLine.has(line)) byLine.set(line, comment);
    roots.set(comment.id, root ?? comment);
  }
  return roots;
}
