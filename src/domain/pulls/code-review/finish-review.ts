import type { Ctx } from "../../../context.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import type { ReviewContext } from "../../../shapes/pulls/pull-review.ts";
import { loadRules } from "../../code/protections/select-rules.ts";
import { findPendingReview } from "../reviews/find-review.ts";
import { createReviewOnce, type SentReview, submitReview } from "./submit-review.ts";

/**
 * Submits the caller's pending review of a pull request with what it says as a whole; without one,
 * reviews it as a whole.
 *
 * Cost: two round trips.
 *
 * @returns Undefined where the same was sent before.
 * @throws Failure as `submitReview` and `createReview`.
 */
export async function finishReview(
  ctx: Ctx,
  pull: PullContext,
  input: Omit<SentReview, "comments" | "isAlone">,
): Promise<ReviewContext | undefined> {
  const [pending, rules] = await Promise.all([
    findPendingReview(ctx, pull),
    loadRules(ctx, pull.repo),
  ]);
  const ruled = { ...pull, repo: { ...pull.repo, rules } };
  return pending
    ? submitReview(ctx, ruled, pending, input)
    : createReviewOnce(ctx, ruled, { ...input, comments: [], isAlone: false });
}
