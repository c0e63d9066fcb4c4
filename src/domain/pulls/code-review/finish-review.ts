import type { Ctx } from "../../../context.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import type { ReviewContext } from "../../../shapes/pulls/pull-review.ts";
import { loadRules } from "../../code/protections/select-rules.ts";
import { findPendingReview, findSentReview } from "../reviews/find-review.ts";
import {
  createReviewOnce,
  reviewNotPending,
  type SentReview,
  submitReviewOnce,
} from "./submit-review.ts";

/**
 * Submits the caller's pending review of a pull request with what it says as a whole; without one,
 * reviews it as a whole.
 *
 * Cost: two round trips.
 *
 * @returns The review; that which was sent before, where the same is sent again.
 * @throws Failure as `submitReview` and `createReview`.
 */
export async function finishReview(
  ctx: Ctx,
  pull: PullContext,
  input: Omit<SentReview, "comments" | "isAlone">,
): Promise<ReviewContext> {
  const [pending, sent, rules] = await Promise.all([
    findPendingReview(ctx, pull),
    findSentReview(ctx, pull, input),
    loadRules(ctx, pull.repo),
  ]);
  if (!pending && sent) return sent;
  const ruled = { ...pull, repo: { ...pull.repo, rules } };
  const stored = await (pending
    ? submitReviewOnce(ctx, ruled, pending, input)
    : createReviewOnce(ctx, ruled, { ...input, comments: [], isAlone: false }));
  // The same was sent at the same time.
  const found = stored ?? (await findSentReview(ctx, pull, input));
  if (!found) throw reviewNotPending();
  return found;
}
